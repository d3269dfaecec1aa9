// Shipped machines: the switches, cables and ratios that their publications state.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/named_machine.h"
#include "configs/scenario/scenario.h"
#include "core/config/config_loader.h"
#include "tests/paths.h"

namespace ringwright::configs::machines_test {
namespace {

using ::testing::HasSubstr;

Scenario machine(const std::string& name, std::vector<std::string> overrides = {}) {
  auto scenario = load_named_machine(name, {.overrides = std::move(overrides), .share_folders = {}});
  if (!scenario) throw std::runtime_error(name + ": " + render(scenario.error()));
  return std::move(*scenario);
}

std::vector<std::string> all_machines() {
  return preset_names({.share_folders = {ringwright::share_dir()}}, "machines");
}

// Switches by tier, and the bandwidth of all links from one tier up to the next.
struct Tiers {
  std::map<NodeKind, int> switches = {};
  double to_leaves = 0.0;
  double to_spines = 0.0;
  double to_cores = 0.0;
};

Tiers tiers_of(const Scenario& scenario) {
  const network_models::Network network = scenario.cluster.topology->build();
  Tiers tiers;
  for (std::size_t n = 0; n < network.fabric.node_count(); ++n) ++tiers.switches[network.fabric.node(NodeId(n)).kind];
  for (std::size_t l = 0; l < network.fabric.link_count(); ++l) {
    const LinkSpec& link = network.fabric.link(LinkId(l));
    const auto joins = [&](NodeKind from, NodeKind to) {
      return network.fabric.node(link.from).kind == from && network.fabric.node(link.to).kind == to;
    };
    if (joins(NodeKind::kNic, NodeKind::kLeaf)) tiers.to_leaves += link.bandwidth.count();
    if (joins(NodeKind::kLeaf, NodeKind::kSpine)) tiers.to_spines += link.bandwidth.count();
    if (joins(NodeKind::kSpine, NodeKind::kCore)) tiers.to_cores += link.bandwidth.count();
  }
  return tiers;
}

TEST(Machines, LoadWithoutRemarks) {
  ASSERT_GE(all_machines().size(), 11U);
  for (const std::string& name : all_machines()) {
    const Scenario scenario = machine(name);
    EXPECT_TRUE(scenario.document.log().diagnostics().all().empty())
        << name << ": " << render(scenario.document.log().diagnostics());
    EXPECT_GT(scenario.cluster.hosts, 1) << name;
    EXPECT_NE(scenario.cluster.fabric, "single_node") << name;
  }
}

// NVIDIA's reference architectures. Of the A100's, the publication has 28 cores, unevenly wired (clos_shape_test.cc).
TEST(Machines, HaveTheSwitchesOfNvidiasReferenceArchitectures) {
  struct Row {
    std::string name;
    int hosts, leaves, spines, cores;
  };
  for (const Row& row : {Row{"dgx-a100-superpod-hdr", 140, 56, 80, 40}, Row{"dgx-h100-superpod-ndr", 127, 32, 16, 0},
                         Row{"dgx-h100-superpod-ndr", 2048, 512, 512, 256},
                         Row{"dgx-b200-superpod-ndr", 512, 128, 128, 64},
                         Row{"hgx-h200-superpod-ndr", 64, 16, 8, 0}}) {
    Tiers tiers = tiers_of(machine(row.name, {fmt::format("cluster.nodes={}", row.hosts)}));
    EXPECT_EQ(tiers.switches[NodeKind::kLeaf], row.leaves) << row.name;
    EXPECT_EQ(tiers.switches[NodeKind::kSpine], row.spines) << row.name;
    EXPECT_EQ(tiers.switches[NodeKind::kCore], row.cores) << row.name;
  }
}

TEST(Machines, HaveTheSwitchesThatFollowFromTheirPorts) {
  struct Row {
    std::string name;
    int gpus, leaves, spines;
  };
  // 500 hosts with four NICs on leaves of 32 hosts' NICs; 32 hosts with four NICs and 18 ports down; 72 NICs a rack.
  for (const Row& row : {Row{"aws-p4d", 4000, 63, 32}, Row{"dgx1-v100-edr", 256, 8, 4},
                         Row{"gb200-nvl72-superpod", 576, 24, 12}}) {
    const Scenario scenario = machine(row.name);
    EXPECT_EQ(scenario.cluster.gpus(), row.gpus) << row.name;
    Tiers tiers = tiers_of(scenario);
    EXPECT_EQ(tiers.switches[NodeKind::kLeaf], row.leaves) << row.name;
    EXPECT_EQ(tiers.switches[NodeKind::kSpine], row.spines) << row.name;
  }
}

// 1,536 racks of two hosts in eight pods; a rack has 6.4 Tb/s of NICs and twice as much to the pod, which passes a
// seventh on.
TEST(Machines, MetaHasTheRacksPodsAndRatiosOfThePaper) {
  const Scenario scenario = machine("meta-24k-roce");
  EXPECT_EQ(scenario.cluster.gpus(), 24'576);
  Tiers tiers = tiers_of(scenario);
  EXPECT_EQ(tiers.switches[NodeKind::kLeaf], 3072 / 2);
  EXPECT_EQ(tiers.switches[NodeKind::kSpine] % 8, 0);
  EXPECT_DOUBLE_EQ(tiers.to_spines, 1536 * 2 * 16 * 50e9);
  EXPECT_NEAR(tiers.to_spines / tiers.to_cores, 7.0, 0.02);  // whole cables of each spine
}

TEST(Machines, MegaScaleHasNoOversubscription) {
  Tiers tiers = tiers_of(machine("megascale-clos"));
  EXPECT_EQ(tiers.switches[NodeKind::kLeaf], 1536 / 64 * 8);
  EXPECT_DOUBLE_EQ(tiers.to_spines, 192 * 32 * 50e9);
  EXPECT_DOUBLE_EQ(tiers.to_cores, tiers.to_spines);
}

// A segment has 16 leaves, each with 128 ports of 200 Gb/s down and 60 of 400 Gb/s up.
TEST(Machines, HpnHasTwoLeavesForEachRailOfASegment) {
  const Scenario scenario = machine("alibaba-hpn");
  EXPECT_EQ(scenario.cluster.gpus(), 15'360);
  Tiers tiers = tiers_of(scenario);
  EXPECT_EQ(tiers.switches[NodeKind::kLeaf], 15 * 16);
  EXPECT_EQ(tiers.switches[NodeKind::kCore], 0);
  EXPECT_DOUBLE_EQ(tiers.to_spines, 15 * 16 * 60 * 50e9);
}

// Nothing joins two rails but NVLink.
TEST(Machines, RailOnlyHasANetworkForEachRail) {
  const Scenario scenario = machine("rail-only-h100");
  const network_models::Network network = scenario.cluster.topology->build();
  std::vector<Hop> hops;
  network.router->route({.from = RankId(0), .to = RankId(9)}, hops);  // another rail of another host
  int above_leaves = 0;
  bool over_nvlink = false;
  for (const Hop& hop : hops) {
    const NodeKind to = network.fabric.node(network.fabric.link(hop.link).to).kind;
    if (to == NodeKind::kSpine) ++above_leaves;
    over_nvlink = over_nvlink || to == NodeKind::kNvSwitch;
  }
  EXPECT_TRUE(over_nvlink);
  EXPECT_EQ(above_leaves, 0);
}

TEST(Machines, AreTheBaseOfAScenario) {
  const std::string text =
      "version: 1\nname: a\ncluster: {preset: meta-24k-roce, nodes: 64, node: {preset: hgx-h200}}\n";
  const auto scenario = load_machine_text("a.yaml", text, {.overrides = {}});
  ASSERT_TRUE(scenario) << render(scenario.error());
  EXPECT_EQ(scenario->cluster.hosts, 64);
  EXPECT_EQ(scenario->cluster.gpu.name, "H200-SXM-141GB");
  EXPECT_EQ(tiers_of(*scenario).switches[NodeKind::kLeaf], 32);
}

// Keys of the machine's fabric are none of another type, and no mistake of the user.
TEST(Machines, TakeAnotherFabric) {
  for (const char* fabric : {"{type: single_node}", "{type: torus, dims: [2, 2]}", "{type: fat_tree}"}) {
    const std::string name(fabric);
    const int hosts = name.find("torus") != std::string::npos ? 4 : 1;
    const auto scenario = load_machine_text(
        "a.yaml",
        fmt::format("version: 1\nname: a\ncluster: {{preset: alibaba-hpn, nodes: {}, fabric: {}}}\n", hosts, fabric),
        {.overrides = {}});
    EXPECT_TRUE(scenario) << fabric << render(scenario.error());
  }
  const auto wrong = load_machine_text(
      "a.yaml",
      "version: 1\nname: a\ncluster: {preset: alibaba-hpn, nodes: 1, fabric: {type: single_node, leaff: 1}}\n",
      {.overrides = {}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(render(wrong.error()), HasSubstr("unknown key 'cluster.fabric.leaff'"));
}

TEST(Machines, LeaveTheirHostsToGroups) {
  const auto scenario =
      load_machine_text("a.yaml",
                        "version: 1\nname: a\ncluster: {preset: meta-24k-roce, groups: [{nodes: 4, node: {preset: "
                        "dgx-h100}}, {nodes: 4, node: {preset: hgx-h200}}]}\n",
                        {.overrides = {}});
  ASSERT_TRUE(scenario) << render(scenario.error());
  EXPECT_EQ(scenario->cluster.hosts, 8);
  EXPECT_EQ(scenario->cluster.fabric, "fat_tree");
}

TEST(Machines, ReplaceHostsAndFabricOfAScenario) {
  const std::string text =
      "version: 1\nname: a\ncluster: {nodes: 4, node: {preset: dgx-h100, nic: {bandwidth: 200Gbps}}, fabric: {type: "
      "fat_tree}}\n";
  const auto alone =
      load_machine_text("b.yaml", "version: 1\nname: b\ncluster: {preset: dgx-a100-superpod-hdr, nodes: 4}\n");
  ASSERT_TRUE(alone) << render(alone.error());
  for (const char* setting : {"cluster.preset=dgx-a100-superpod-hdr", "cluster={preset: dgx-a100-superpod-hdr}"}) {
    const auto moved = load_machine_text("a.yaml", text, {.overrides = {setting}});
    ASSERT_TRUE(moved) << render(moved.error());
    EXPECT_EQ(moved->cluster.hosts, 4);
    EXPECT_EQ(moved->cluster.fabric, "rail_optimized");
    EXPECT_EQ(moved->cluster.host.nic.bandwidth, alone->cluster.host.nic.bandwidth);
    EXPECT_EQ(moved->cluster.host.gpus, alone->cluster.host.gpus);
    const std::string remarks = render(moved->document.log().diagnostics());
    EXPECT_THAT(remarks, HasSubstr("a.yaml:3:21: warning[W593]: 'cluster.node' is replaced"));
    EXPECT_THAT(remarks, HasSubstr("'cluster.fabric' is replaced"));
  }
}

TEST(Machines, KeepWhatIsSetNextToThem) {
  const std::string text = "version: 1\nname: a\ncluster: {nodes: 4, node: {preset: dgx-h100}}\n";
  for (const bool first : {true, false}) {
    std::vector<std::string> settings = {"cluster.node.preset=hgx-h200", "cluster.preset=dgx-a100-superpod-hdr"};
    if (!first) std::ranges::reverse(settings);
    const auto moved = load_machine_text("a.yaml", text, {.overrides = settings});
    ASSERT_TRUE(moved) << render(moved.error());
    EXPECT_THAT(moved->cluster.gpu.name, HasSubstr("H200"));
  }
}

// A machine of the scenario's own with other hosts: another machine gets the same hosts.
TEST(Machines, KeepWhatAScenarioChangesOfItsMachine) {
  const std::string text =
      "version: 1\nname: a\ncluster: {preset: dgx-h100-superpod-ndr, nodes: 4, node: {preset: hgx-h200}}\n";
  const auto moved = load_machine_text("a.yaml", text, {.overrides = {"cluster.preset=meta-24k-roce"}});
  ASSERT_TRUE(moved) << render(moved.error());
  EXPECT_EQ(moved->cluster.fabric, "fat_tree");
  EXPECT_THAT(moved->cluster.gpu.name, HasSubstr("H200"));
}

// What follows from their absence is not reported.
TEST(Machines, ThatDoNotExistAreTheOnlyMistake) {
  const std::string job =
      "version: 1\nname: a\nmodel: {preset: gpt3-175b}\ntraining: {global_batch: 64}\n"
      "parallel: {tp: 8, pp: 8, dp: auto}\ncluster: {preset: dgx-h100-superpod-ndr, nodes: 16}\n";
  ASSERT_TRUE(load_scenario_text("a.yaml", job, {.overrides = {}}));
  for (const char* wrong : {"cluster.preset=none-such", "cluster.node.preset=none-such", "model.preset=none-such"}) {
    const auto scenario = load_scenario_text("a.yaml", job, {.overrides = {wrong}});
    ASSERT_FALSE(scenario) << wrong;
    EXPECT_EQ(scenario.error().all().size(), 1U) << render(scenario.error());
    EXPECT_THAT(render(scenario.error()), HasSubstr("E109"));
  }
}

// 1,016 cables of NICs and 1,024 between switches.
TEST(Machines, NetworksHaveAPrice) {
  const std::string job =
      "version: 1\nname: a\nmodel: {preset: gpt2-1.5b}\ntraining: {global_batch: 1016}\nparallel: {dp: auto}\n"
      "cluster: {preset: dgx-h100-superpod-ndr}\ncost: {network: {usd_per_switch: 1000, usd_per_port: 10, "
      "usd_per_transceiver: 1, watts_per_port: 2, watts_per_switch: 100, watts_per_transceiver: 3}}\n";
  const auto scenario = load_scenario_text("a.yaml", job, {.overrides = {}});
  ASSERT_TRUE(scenario) << render(scenario.error());
  ASSERT_TRUE(scenario->cost && scenario->cost->network);
  const NetworkCost& network = *scenario->cost->network;
  EXPECT_EQ(network.switches, 48U);
  EXPECT_EQ(network.ports, 1016U + 2 * 1024U);
  EXPECT_EQ(network.transceivers, 2 * (1016U + 1024U));
  EXPECT_DOUBLE_EQ(network.usd, 48 * 1000.0 + 3064 * 10.0 + 4080.0);
  EXPECT_DOUBLE_EQ(network.watts, 48 * 100.0 + 3064 * 2.0 + 4080 * 3.0);
  const auto alone = load_scenario_text(
      "a.yaml", job, {.overrides = {"cluster.nodes=1", "cluster.fabric.type=single_node", "training.global_batch=8"}});
  ASSERT_TRUE(alone) << render(alone.error());
  EXPECT_FALSE(alone->cost->network);
  EXPECT_THAT(render(alone->document.log().diagnostics()), HasSubstr("cost.network has no effect"));
}

TEST(Machines, AreFoundByName) {
  const auto wrong = load_named_machine("meta-24k-roc", {.overrides = {}, .share_folders = {}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(render(wrong.error()), HasSubstr("did you mean 'meta-24k-roce'"));
}

}  // namespace
}  // namespace ringwright::configs::machines_test
