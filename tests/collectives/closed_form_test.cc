#include "collectives/closed_form.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "tests/collectives/example_layouts.h"
#include "tests/collectives/step_clock.h"

namespace ringwright::collectives::closed_form_test {
namespace {

using namespace ringwright::literals;

constexpr Duration kLatency = 1_us;
constexpr Bandwidth kBandwidth = 1_GBps;
constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                     CollectiveKind::kBroadcast, CollectiveKind::kReduce};

// Identical hops, and NICs that carry any number of flows: the model of StepClock.
constexpr WireCosts kUniform{.inside = {.latency = kLatency, .bandwidth = kBandwidth},
                           .between = {.latency = kLatency, .bandwidth = kBandwidth},
                           .host_outward = Bandwidth(1e30)};

CollectiveCall call_on(const GroupLayout& layout, CollectiveKind kind, Bytes bytes) {
  return {.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0), .root = 0};
}

// Divides by every number of pieces that these layouts have.
constexpr Bytes kEven(720'720 * 64);

TEST(ClosedForm, EqualsTheStepsOnIdenticalLinks) {
  // Those whose members have one message in flight per step; the others share their own outgoing link, which StepClock
  // does not model.
  for (const char* name : {"ring", "rail_rings", "hierarchical", "islands", "pairwise", "recursive_doubling", "bine",
                           "bine_doubling", "bruck", "neighbor_exchange", "binomial", "scatter_allgather"}) {
    const CollectiveAlgorithm& algorithm = *find_algorithm(name);
    for (const auto& [n, p] : std::vector<std::pair<int, int>>{{2, 2}, {4, 4}, {8, 4}, {12, 4}, {16, 8}, {7, 1}}) {
      const GroupLayout layout = make_block_layout(n, p);
      for (const CollectiveKind kind : kKinds) {
        const CollectiveCall call = call_on(layout, kind, kEven);
        if (!algorithm.supports(call)) continue;
        const Duration played = StepClock{.latency = kLatency, .bandwidth = kBandwidth}.run(algorithm, call);
        // Chunks of a chain need not divide the buffer: a few bytes of 1 ns each.
        EXPECT_NEAR(static_cast<double>(closed_form_time(algorithm, call, kUniform).count()),
                    static_cast<double>(played.count()), 1e-5 * static_cast<double>(played.count()))
            << describe(algorithm, call);
      }
    }
  }
}

TEST(ClosedForm, HalvingDoublingIsRabenseifners) {
  const GroupLayout layout = make_block_layout(16, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(64'000));
  EXPECT_EQ(closed_form_time(*find_algorithm("halving_doubling"), call, kUniform),
            StepClock({.latency = kLatency, .bandwidth = kBandwidth}).run(*find_algorithm("halving_doubling"), call));
}

TEST(ClosedForm, MembersOfAHostShareItsNics) {
  // 2 hosts of 4; all four exchange S / 8 on their rails at once through NICs of 2 GB/s together: 0.5 GB/s each.
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, Bytes(8'000));
  WireCosts wires = kUniform;
  wires.host_outward = 2_GBps;
  const Duration inside = 2 * 3 * (1_us + 2_us);       // 2,000 bytes at 1 GB/s
  const Duration between = 2 * 1 * (1_us + 2_us);      // 1,000 bytes at 0.5 GB/s
  EXPECT_EQ(closed_form_time(*find_algorithm("hierarchical"), call, wires), inside + between);
}

// Four GPUs with a link between any two: an all-to-all uses the three links of each at once, a ring one of them.
TEST(ClosedForm, MessagesToAllUseTheLinksOfAMesh) {
  const GroupLayout layout = make_block_layout(4, 4);
  WireCosts mesh = kUniform;
  mesh.member_outward = 3_GBps;
  const CollectiveCall exchange = call_on(layout, CollectiveKind::kAllToAll, Bytes(8'000));
  EXPECT_EQ(closed_form_time(*find_algorithm("direct"), exchange, kUniform), 1_us + 6_us);
  EXPECT_EQ(closed_form_time(*find_algorithm("direct"), exchange, mesh), 1_us + 2_us);
  const CollectiveCall gather = call_on(layout, CollectiveKind::kAllGather, Bytes(8'000));
  EXPECT_EQ(closed_form_time(*find_algorithm("ring"), gather, mesh), 3 * (1_us + 2_us));
}

// A group on one host has no link between hosts, one with one member per host none inside: formulas must not use them.
TEST(ClosedForm, EveryAlgorithmHasATimeOnEveryKindOfGroup) {
  WireCosts one_host = kUniform;
  one_host.between = {};
  one_host.host_outward = Bandwidth(0.0);
  WireCosts one_a_host = kUniform;
  one_a_host.inside = {};
  for (const CollectiveAlgorithm* algorithm : algorithms()) {
    for (const int n : {1, 2, 3, 4, 8}) {
      for (const int p : {1, n}) {
        const GroupLayout layout = make_block_layout(n, p);
        for (const CollectiveKind kind : kKinds) {
          const CollectiveCall call = call_on(layout, kind, kEven);
          if (!algorithm->supports(call)) continue;
          const Duration time = closed_form_time(*algorithm, call, p == 1 ? one_a_host : one_host);
          EXPECT_EQ(time > Duration(0), n > 1) << describe(*algorithm, call);
          // An n-th of the buffer at 1 GB/s is the least; 1,000 times that is a link that does not exist.
          EXPECT_LT(time, 1000 * transfer_time(kEven, kBandwidth)) << describe(*algorithm, call);
        }
      }
    }
  }
}

TEST(ClosedForm, EveryAlgorithmHasOneAndNoneBeatsTheWire) {
  for (const CollectiveAlgorithm* algorithm : algorithms()) {
    for (const GroupLayout& layout : {make_block_layout(8, 8), make_block_layout(16, 4), make_block_layout(6, 1)}) {
      for (const CollectiveKind kind : kKinds) {
        const CollectiveCall call = call_on(layout, kind, kEven);
        if (!algorithm->supports(call)) continue;
        const double n = call.size();
        // Each member must at least receive an n-th of the buffer, and the first byte pays one latency.
        const Duration least = kLatency / 2 + transfer_time(Bytes(static_cast<std::int64_t>(46e6 / n)), kBandwidth);
        EXPECT_GE(closed_form_time(*algorithm, call, kUniform), least) << describe(*algorithm, call);
      }
    }
  }
}

TEST(ClosedForm, AGroupOfOneTakesNoTime) {
  const GroupLayout layout = make_block_layout(1, 1);
  const CollectiveCall call = call_on(layout, CollectiveKind::kAllReduce, kEven);
  EXPECT_EQ(closed_form_time(*find_algorithm("ring"), call, kUniform), Duration(0));
}

// A group in one host has no path between hosts, and one of single members none inside: such links have no rate.
TEST(ClosedForm, HierarchicalAsksOnlyTheWiresThatItUses) {
  const CollectiveAlgorithm& algorithm = *find_algorithm("hierarchical");
  const GroupLayout inside = make_block_layout(4, 4);
  const GroupLayout apart = make_block_layout(4, 1);
  const WireCosts no_network{.inside = kUniform.inside, .between = {}, .host_outward = {}};
  const WireCosts no_links{.inside = {}, .between = kUniform.between, .host_outward = kUniform.host_outward};
  const CollectiveKind kind = CollectiveKind::kAllGather;
  EXPECT_EQ(closed_form_time(algorithm, call_on(inside, kind, kEven), no_network),
            closed_form_time(algorithm, call_on(inside, kind, kEven), kUniform));
  EXPECT_EQ(closed_form_time(algorithm, call_on(apart, kind, kEven), no_links),
            closed_form_time(algorithm, call_on(apart, kind, kEven), kUniform));
}

}  // namespace
}  // namespace ringwright::collectives::closed_form_test
