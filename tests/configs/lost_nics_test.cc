// NICs that are down from the start and for good: jobs use the remaining ones, in every model.
#include "configs/scenario/nics_down.h"

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::lost_nics_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTorus = "torus, dims: [4], speed: 400Gbps";
constexpr const char* kDragonfly = "dragonfly, switches: 1, nodes_per_switch: 2";
constexpr const char* kRungs[] = {"closed_form", "steps", "chunks"};

// Four hosts of eight GPUs, each with a NIC of its own, that all-reduce gradients of some 40 MB.
std::string four_hosts(std::string_view faults, std::string_view fabric = "rail_optimized") {
  return fmt::format(
      "model: {{num_layers: 2, hidden_size: 1024, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 4096,"
      " vocab_size: 1000, seq_length: 128}}\n"
      "training: {{global_batch: 32}}\nparallel: {{tp: 1, dp: auto}}\n"
      "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: {}}}}}\n"
      "faults: {}\n",
      fabric, faults);
}

Report report_of(const std::string& text, const char* rung, FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text, {std::string("collectives.model=") + rung});
  auto outcome = simulate(scenario, fold);
  if (!outcome || !outcome->report) throw std::runtime_error("did not finish");
  return std::move(*outcome->report);
}

std::string refusal(const std::string& text) {
  const auto scenario = load_scenario_text("test.yaml", text, {});
  return scenario ? "" : render(scenario.error());
}

// Such a run ended in ranks that wait for each other.
TEST(LostNics, AJobGoesByThoseThatAreLeftAndTakesLonger) {
  for (const char* rung : kRungs) {
    for (const char* faults : {"[{nic: host2/nic5}]", "[{nic: host2/nic5}, {nic: host0/nic1}]",
                               "[{link: host2/nic5->leaf0.5}, {nic: host2/nic4}, {nic: host3/nic5}]"}) {
      const Duration lost = report_of(four_hosts(faults), rung).step_time.mean;
      EXPECT_GT(lost, report_of(four_hosts("[]"), rung).step_time.mean) << rung << " " << faults;
      EXPECT_EQ(lost, report_of(four_hosts(faults), rung, FoldMode::kNoFold).step_time.mean) << rung << " " << faults;
    }
  }
}

TEST(LostNics, DoSoOnEveryFabricOfHosts) {
  for (const char* fabric : {"fat_tree", "rail_only", kTorus, kDragonfly}) {
    const std::string healthy = four_hosts("[]", fabric);
    const std::string lost = four_hosts("[{nic: host1/nic3}]", fabric);
    const Duration folded = report_of(lost, "steps").step_time.mean;
    EXPECT_GE(folded, report_of(healthy, "steps").step_time.mean) << fabric;
    EXPECT_EQ(folded, report_of(lost, "steps", FoldMode::kNoFold).step_time.mean) << fabric;
  }
}

// Between any two GPUs, whichever NICs are requested.
TEST(LostNics, LieOnNoPath) {
  for (const char* fabric : {"rail_optimized", "rail_only", "fat_tree", kTorus, kDragonfly}) {
    const Scenario scenario = load(four_hosts("[{nic: host1/nic3}, {nic: host2/nic3}, {nic: host2/nic0}]", fabric));
    const network_models::Network network = scenario.cluster.topology->build();
    const std::set<std::string> lost = {"host1/nic3", "host2/nic3", "host2/nic0"};
    std::vector<Hop> hops;
    for (std::size_t from = 0; from < 32; ++from) {
      for (std::size_t to = 0; to < 32; ++to) {
        if (from / 8 == to / 8) continue;
        for (const RouteKind route_kind : {RouteKind::kWhole, RouteKind::kPxn}) {
          for (const int asked : {-1, 0, 3, 6}) {
            const auto number = static_cast<std::int16_t>(asked);
            network.router->route({.from = RankId(from),
                                   .to = RankId(to),
                                   .route_kind = route_kind,
                                   .nics = {.out = number, .in = number, .relay = number}},
                                  hops);
            for (const Hop& hop : hops) {
              const LinkSpec& link = network.fabric.link(hop.link);
              ASSERT_FALSE(lost.contains(network.fabric.name(link.from)) || lost.contains(network.fabric.name(link.to)))
                  << fabric << " " << from << " " << to << " " << network.fabric.name(hop.link);
            }
          }
        }
      }
    }
  }
}

// Eight rings enter and leave a whole host by eight NICs; the host with seven finds fewer or slower ones, and its
// group agrees on them.
TEST(LostNics, AreNotFoundByTheLibrarysSearch) {
  const Scenario scenario = load(four_hosts("[{nic: host2/nic5}]"));
  const auto simulation = assemble(scenario);
  const GroupLayout& layout = simulation->plan().graph.layouts[0];
  ASSERT_THAT(layout.nic_set, ElementsAre(0, 0, 1, 0));
  const collectives::NcclGraphs found = simulation->nccl().selector().graphs(layout);
  ASSERT_EQ(found.of_members.size(), 2U);
  EXPECT_EQ(found.ring.channels, std::min(found.of_members[0].ring.channels, found.of_members[1].ring.channels));
  EXPECT_LT(found.ring.channels * found.ring.between_gb, 8 * 48.0);
  std::set<int> used;
  for (const auto& ports : found.of_members[1].ring.ports) used.insert(ports.begin(), ports.end());
  EXPECT_FALSE(used.contains(5));
  EXPECT_TRUE(used.contains(6));  // numbers are those of a whole host
}

TEST(LostNics, AreReportedInTheReportOnEveryRung) {
  for (const char* rung : kRungs) {
    const Report report = report_of(four_hosts("[{nic: host2/nic5}]"), rung);
    EXPECT_THAT(report.facts.faults, ElementsAre("host2/nic5 down from 0 ps on: the library starts without it"));
    EXPECT_THAT(report.facts.ignored, IsEmpty()) << rung;
  }
}

// With formulas a weak link in addition to a lost NIC has no effect, and only that is reported.
TEST(LostNics, DoNotHideFaultsThatNothingMeets) {
  const Report report =
      report_of(four_hosts("[{nic: host2/nic5}, {nic: host0/nic1, state: degraded, factor: 0.5}]"), "closed_form");
  ASSERT_EQ(report.facts.ignored.size(), 1U);
  EXPECT_EQ(report.facts.ignored.front().path, "faults[1].nic");
}

// Down for a while, later, weaker, or in one direction only: the library finds such a NIC.
TEST(LostNics, AreOnlyThoseThatNeverCarryAnything) {
  for (const char* fault :
       {"{nic: host2/nic5, for: 10s}", "{nic: host2/nic5, at: 1us}", "{nic: host2/nic5, state: degraded, factor: 0.5}",
        "{link: host2/nic5->leaf0.5, direction: one}"}) {
    const Scenario scenario = load(four_hosts(fmt::format("[{}]", fault)));
    EXPECT_TRUE(scenario.faults.lost_nics.empty()) << fault;
    EXPECT_FALSE(scenario.faults.links.empty()) << fault;
  }
}

TEST(LostNics, AHostNeedsOne) {
  std::string all;
  for (int nic = 0; nic < 8; ++nic) all += fmt::format("\n  - {{nic: host1/nic{}}}", nic);
  const std::string text = refusal(four_hosts(all));
  EXPECT_THAT(text, HasSubstr("host1 has no NIC left: all 8 are down from the start and for good"));
  EXPECT_THAT(text, HasSubstr("test.yaml:13:"));  // the last of them
}

TEST(LostNics, RailsThatAreNotJoinedMustBeCommon) {
  std::string half;
  for (int nic = 0; nic < 8; ++nic) half += fmt::format("\n  - {{nic: host{}/nic{}}}", nic < 4 ? 0 : 3, nic);
  EXPECT_THAT(refusal(four_hosts(half, "rail_only")), HasSubstr("host0 and host3 have no rail in common"));
  EXPECT_THAT(refusal(four_hosts(half)), IsEmpty());
}

}  // namespace
}  // namespace ringwright::configs::lost_nics_test
