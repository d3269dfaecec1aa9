// Shipped nodes as NCCL would find them, and its choices in whole scenarios.
#include "configs/scenario/nccl_host.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/channel_chooser.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "tests/support/own_folder.h"

namespace ringwright::configs::nccl_host_test {
namespace {

using ::testing::HasSubstr;

Result<Scenario> machine(const std::string& node, const std::string& more = "", int hosts = 2) {
  return load_machine_text(test::own_folder() + "/machine.yaml",
                           "cluster: {nodes: " + std::to_string(hosts) + ", node: " + node + "}\n" + more);
}

int channels(const std::string& node, int ranks, int per_host) {
  auto scenario = machine(node);
  EXPECT_TRUE(scenario.has_value()) << render(scenario.error());
  if (!scenario) return 0;
  const GroupLayout layout = make_block_layout(ranks, per_host);
  return collectives::NcclSelector(scenario->nccl).graphs(layout).compute_channels;
}

// As in NCCL's logs of such hosts.
TEST(NcclHost, ShippedNodesHaveTheChannelsOfTheirLogs) {
  EXPECT_EQ(channels("{preset: dgx-a100}", 8, 8), 24);
  EXPECT_EQ(channels("{preset: dgx-h100}", 8, 8), 24);
  EXPECT_EQ(channels("{preset: dgx-h100}", 16, 8), 16);
  EXPECT_EQ(channels("{preset: dgx-b200}", 8, 8), 32);
  EXPECT_EQ(channels("{preset: a100-x4}", 8, 4), 4);
  EXPECT_EQ(channels("{preset: gh200-x4}", 4, 4), 24);
}

// What the search finds on every shipped node, alone and between two: rings by number, GB/s and the worst paths inside
// and to a NIC, the tree's GB/s inside and between, channels of computing. By the capacity of the wires at NCCL's
// rates: a switch's 240, 370.8 and 721.8 GB/s per GPU hold 6 x 40, 6 x 60 and 8 x 90, doubled; the cube's and the
// square's V100 have six lanes of 20. Each 400 Gb/s NIC holds one ring of 48 (its slot), of 200 Gb/s one of 24, of 100
// Gb/s one of 12, or of 10 where it is reached through an Intel processor, for which NCCL counts a fifth more. Trees
// are sped up to the capacity of NVLink with as many channels, at most twice the speed between hosts.
TEST(NcclHost, TheSearchFindsWhatTheWiresOfShippedNodesHold) {
  using Path = collectives::NcclPath;
  struct Row {
    const char* node;
    int hosts;
    int rings;
    double ring_gb;
    Path inside;
    Path between;
    double tree_inside_gb;
    double tree_between_gb;
    int compute;
  };
  constexpr Row kRows[] = {{"a100-x4", 1, 12, 20, Path::kNvlink, Path::kPix, 20, 20, 24},
                           {"a100-x4", 2, 2, 24, Path::kNvlink, Path::kPhb, 48, 24, 4},
                           {"dgx-a100", 1, 12, 20, Path::kNvlink, Path::kPix, 20, 20, 24},
                           {"dgx-a100", 2, 8, 24, Path::kNvlink, Path::kPix, 30, 24, 16},
                           {"dgx-b200", 1, 16, 45, Path::kNvlink, Path::kPix, 45, 45, 32},
                           {"dgx-b200", 2, 8, 48, Path::kNvlink, Path::kPxn, 96, 48, 16},
                           {"dgx-h100", 1, 12, 30, Path::kNvlink, Path::kPix, 30, 30, 24},
                           {"dgx-h100", 2, 8, 48, Path::kNvlink, Path::kPix, 48, 48, 16},
                           {"dgx1-v100", 1, 6, 20, Path::kNvlink, Path::kPix, 20, 20, 12},
                           {"dgx1-v100", 2, 4, 12, Path::kNvlink, Path::kPix, 20, 12, 8},
                           {"dgx2-v100", 1, 6, 20, Path::kNvlink, Path::kPix, 20, 20, 12},
                           {"dgx2-v100", 2, 8, 12, Path::kNvlink, Path::kPix, 15, 12, 16},
                           {"gh200-x4", 1, 12, 30, Path::kNvlink, Path::kPix, 30, 30, 24},
                           {"gh200-x4", 2, 4, 24, Path::kNvlink, Path::kPxn, 48, 24, 8},
                           {"hgx-h200", 2, 8, 48, Path::kNvlink, Path::kPix, 48, 48, 16},
                           {"hgx-h800", 1, 8, 20, Path::kNvlink, Path::kPix, 20, 20, 16},
                           {"v100-x4", 1, 6, 20, Path::kNvlink, Path::kPix, 20, 20, 12},
                           {"v100-x4", 2, 2, 10, Path::kNvlink, Path::kPhb, 20, 10, 4}};
  for (const Row& row : kRows) {
    const auto scenario = machine(fmt::format("{{preset: {}}}", row.node));
    ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
    const int gpus = scenario->cluster.host.gpus;
    const collectives::NcclGraphs found =
        collectives::NcclSelector(scenario->nccl).graphs(make_block_layout(row.hosts * gpus, gpus));
    const std::string name = fmt::format("{} on {}", row.node, row.hosts);
    EXPECT_EQ(found.ring.channels, row.rings) << name;
    EXPECT_DOUBLE_EQ(found.ring.inside_gb, row.ring_gb) << name;
    EXPECT_EQ(found.ring.inside, row.inside) << name;
    EXPECT_EQ(found.ring.between, row.between) << name;
    EXPECT_DOUBLE_EQ(found.tree.inside_gb, row.tree_inside_gb) << name;
    EXPECT_DOUBLE_EQ(found.tree.between_gb, row.tree_between_gb) << name;
    EXPECT_EQ(found.compute_channels, row.compute) << name;
  }
}

TEST(NcclHost, EveryShippedNodeHasChannels) {
  for (const std::string& node : preset_names(load_options({}), "nodes")) {
    auto scenario = machine("{preset: " + node + "}", "", 1);  // the layouts are asked about apart from the cluster
    ASSERT_TRUE(scenario.has_value()) << node << render(scenario.error());
    const int gpus = scenario->cluster.host.gpus;
    for (const int per_host : {1, gpus}) {
      const GroupLayout layout = make_block_layout(2 * per_host, per_host);
      const collectives::NcclSelector selector(scenario->nccl);
      EXPECT_GE(selector.graphs(layout).ring.inside_gb, 0.1) << node << " " << per_host;  // 1 Gb/s at home
      EXPECT_FALSE(selector.plan({.kind = CollectiveKind::kAllReduce, .bytes = Bytes(1 << 20), .layout = &layout})
                       .algorithm.empty());
    }
  }
}

// Eight NICs of 200 Gb/s with two ports each: 16 rings of 12 GB/s, doubled, where each port is a device, which it is up
// to NCCL 2.19 and with NCCL_IB_MERGE_NICS=0; else eight of 24, doubled.
TEST(NcclHost, PortsOfANicAreDevicesUnlessTheLibraryMergesThem) {
  const auto found = [](const std::string& comm) {
    auto scenario = machine("{preset: dgx-a100, nic: {count: 8, bandwidth: 200Gbps, ports: 2}}", comm);
    EXPECT_TRUE(scenario.has_value()) << render(scenario.error());
    const GroupLayout layout = make_block_layout(16, 8);
    const collectives::NcclGraphs graphs = collectives::NcclSelector(scenario->nccl).graphs(layout);
    return fmt::format("{} of {} GB/s: {} rings of {}, {} channels", scenario->nccl.host.nics,
                       scenario->nccl.host.nic.count() / 1e9, graphs.ring.channels, graphs.ring.inside_gb,
                       graphs.compute_channels);
  };
  EXPECT_EQ(found("comm: {nccl_version: \"2.18\"}\n"), "16 of 12.5 GB/s: 16 rings of 12, 32 channels");
  EXPECT_EQ(found("comm: {nccl_version: \"2.27\", env: {NCCL_IB_MERGE_NICS: 0}}\n"),
            "16 of 12.5 GB/s: 16 rings of 12, 32 channels");
  EXPECT_EQ(found("comm: {nccl_version: \"2.27\"}\n"), "8 of 25 GB/s: 8 rings of 24, 16 channels");
}

// Four adapters of 100 Gb/s for each GPU (P5) are one device: AWS's plug-in spreads a message over them.
TEST(NcclHost, AdaptersOfAGpuAreOneDeviceWithEfa) {
  auto scenario = machine("{preset: dgx-h100, nic: {ports: 4, transport: efa}}", "comm: {nccl_version: \"2.18\"}\n");
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  EXPECT_EQ(scenario->nccl.host.nics, 8);
  EXPECT_DOUBLE_EQ(scenario->nccl.host.nic.count(), 50e9);
}

TEST(NcclHost, GpusByAmdUseRccl) {
  auto scenario = machine("{preset: mi300x-8gpu}");
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(scenario->nccl.tables.version, "rccl");
  EXPECT_EQ(machine("{preset: dgx-h100}")->nccl.tables.version, "2.30");
}

std::string_view chosen(const std::string& more, Bytes bytes) {
  auto scenario = machine("{preset: dgx-h100}", more);
  EXPECT_TRUE(scenario.has_value()) << render(scenario.error());
  if (!scenario) return {};
  const collectives::NcclTuner tuner(scenario->nccl);
  const GroupLayout layout = make_block_layout(16, 8);
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout};
  const collectives::PlannedChooser library(tuner);
  return collectives::SimpleChooser(scenario->collectives, {.library = &library}).choose(call).name();
}

TEST(NcclTunerInScenarios, TheEnvironmentSteersTheChoice) {
  EXPECT_EQ(chosen("collectives: {tuner: nccl}", Bytes(1 << 30)), "nvls_tree");
  EXPECT_EQ(chosen("collectives: {tuner: nccl}\ncomm: {env: {NCCL_ALGO: Ring}}", Bytes(1 << 30)), "rail_rings");
  EXPECT_EQ(chosen("collectives: {tuner: nccl}\ncomm: {env: {NCCL_NVLS_ENABLE: 0, NCCL_ALGO: Tree}}", Bytes(1 << 20)),
            "double_tree");
}

TEST(NcclTunerInScenarios, IgnoredVariablesAreListed) {
  auto scenario = machine("{preset: dgx-h100}", "comm: {env: {NCCL_DEBUG: INFO}}");
  ASSERT_TRUE(scenario.has_value());
  ASSERT_EQ(scenario->document.log().ignored().size(), 1u);
  EXPECT_EQ(scenario->document.log().ignored()[0].path, "comm.env.NCCL_DEBUG");
}

TEST(NcclTunerInScenarios, MistakesHaveAPlace) {
  auto scenario = machine("{preset: dgx-h100}", "comm:\n  env:\n    NCCL_ALGO: Rnig\n");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_EQ(scenario.error().all().front().place.line, 4);
  EXPECT_THAT(render(scenario.error()), HasSubstr("machine.yaml:4:"));
}

TEST(NcclTunerInScenarios, FilesOfNcclAreRelativeToTheScenario) {
  std::ofstream(test::own_folder() + "/host.xml")
      << "<system version=\"1\"><cpu arch=\"x86_64\" vendor=\"GenuineIntel\" modelid=\"143\">"
         "<pci busid=\"a\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"/>"
         "<pci busid=\"b\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"/>"
         "<pci busid=\"c\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"/></cpu></system>\n";
  auto scenario = machine("{nccl_topo: host.xml}");
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  EXPECT_EQ(scenario->cluster.host.gpus, 2);
  EXPECT_EQ(scenario->cluster.host.nic.count, 1);
  EXPECT_EQ(scenario->cluster.gpu.name, "H100-SXM5-80GB");  // by its slot, PCIe 5.0
  EXPECT_FALSE(machine("{nccl_topo: none.xml}").has_value());
}

}  // namespace
}  // namespace ringwright::configs::nccl_host_test
