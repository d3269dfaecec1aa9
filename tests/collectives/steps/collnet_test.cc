// CollNet in steps: reductions in hosts and switches, and their times.
#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/closed_form.h"
#include "collectives/nccl/tuner.h"
#include "collectives/shapes/pipeline.h"

namespace ringwright::collectives::collnet_test {
namespace {

using namespace ringwright::literals;

CollectiveCall all_reduce(const GroupLayout& layout, Bytes bytes) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0)};
}

// Each NIC carries S/p up and as much down, for any number of hosts; a ring's would carry about 2 S/p.
TEST(Collnet, SendsEveryPartThroughTheNetworkOnce) {
  for (const int hosts : {2, 3, 8}) {
    const GroupLayout layout = make_block_layout(4 * hosts, 4);
    const CollectiveCall call = all_reduce(layout, Bytes(4'000));
    for (const char* name : {"collnet_direct", "collnet_chain"}) {
      const CollectiveAlgorithm& algorithm = *find_algorithm(name);
      Bytes up, down;
      CollectiveStep step;
      for (int index = 0; index < algorithm.steps(call); ++index) {
        algorithm.step(call, 5, index, step);
        for (const CollectiveSend& send : step.sends) {
          if (send.route_kind == RouteKind::kUpToSwitch) up += send.size;
          if (send.route_kind == RouteKind::kDownFromSwitch) down += send.size;
        }
      }
      EXPECT_EQ(up, Bytes(1'000)) << name;
      EXPECT_EQ(down, Bytes(1'000)) << name;
    }
  }
}

// Into the head, up, down, out; a chain of p members takes p - 1 hops to the head.
TEST(Collnet, TakesFourStagesOrAChain) {
  const GroupLayout layout = make_block_layout(16, 8);
  EXPECT_EQ(find_algorithm("collnet_direct")->steps(all_reduce(layout, Bytes(800))), 4);
  EXPECT_EQ(find_algorithm("collnet_chain")->steps(all_reduce(layout, Bytes(800))), 7 + 2 + 7);
  const CollectiveCall large = all_reduce(layout, Bytes(800'000'000));
  EXPECT_EQ(find_algorithm("collnet_direct")->steps(large), pipeline_chunks(large.bytes, 3) + 3);
}

// Large buffers: S/p per NIC and direction against a ring's 2 (n-1)/n S/p. (NVLink carries 2 (p-1)/p S, 1.75 S at 400
// GB/s, less than S/8 at 25 GB/s takes.)
TEST(Collnet, ClosedFormIsNearlyTwiceAsFastAsRings) {
  const GroupLayout layout = make_block_layout(64, 8);
  const CollectiveCall call = all_reduce(layout, Bytes(1 << 30));
  const WireCosts wires{.inside = {.latency = 1_us, .bandwidth = 400_GBps},
                        .between = {.latency = 3_us, .bandwidth = 25_GBps},
                        .host_outward = 200_GBps};
  const double ratio_of_times = ratio(closed_form_time(*find_algorithm("rail_rings"), call, wires),
                                      closed_form_time(*find_algorithm("collnet_direct"), call, wires));
  EXPECT_GT(ratio_of_times, 1.7);
  EXPECT_LT(ratio_of_times, 2.0);
}

TEST(Collnet, StandsForNcclsPlanInSteps) {
  const GroupLayout layout = make_block_layout(8, 4);
  const CollectiveCall call = all_reduce(layout, 1_MiB);
  LibraryAlgorithms library;
  EXPECT_EQ(nearest_in_steps({.algorithm = "collnet_direct"}, call, library).name(), "collnet_direct");
  EXPECT_EQ(nearest_in_steps({.algorithm = "collnet_chain"}, call, library).name(), "collnet_chain");
  const GroupLayout spread = make_block_layout(8, 1);
  EXPECT_EQ(nearest_in_steps({.algorithm = "collnet_chain"}, all_reduce(spread, 1_MiB), library).name(), "in_switch");
}

}  // namespace
}  // namespace ringwright::collectives::collnet_test
