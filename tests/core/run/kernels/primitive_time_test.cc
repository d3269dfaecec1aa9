// Lines of protocols with flags: when a peer begins, and what a block waits for; derived by hand from round constants.
#include "core/run/kernels/primitive_time.h"

#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "tests/support/chunk_case.h"

namespace ringwright::primitive_time_test {
namespace {

using namespace ringwright::literals;
using test::end_of;
using test::play;

// 512 threads process lines of 4096 bytes at once: 4.096 us of the 20.48 that 20,480 bytes take a block.
TEST(PrimitiveTime, WithFlagsAPeerBeginsWhenTheFirstLinesHaveCome) {
  const ChannelAlgorithm* ring = collectives::find_channel_algorithm("ring");
  ASSERT_NE(ring, nullptr);
  const auto ends = [&](Protocol protocol, Bandwidth wire) {
    const CollectivePlan plan{.algorithm = "ring", .protocol = protocol, .channels = 1};
    const RunResult result =
        play({.algorithm = *ring, .plan = plan, .bytes = Bytes(20'480), .ranks = 3, .per_host = 3, .wire = wire});
    // Late lines are on the wire as well; LL's have a flag for each word.
    EXPECT_EQ(result.record.sent[1][0], Bytes(20'480 * (protocol == Protocol::kLl ? 2 : 1)));
    std::vector<double> us;
    for (std::size_t rank = 0; rank < 3; ++rank) us.push_back(to_seconds(end_of(result, rank) - TimePoint()) * 1e6);
    return us;
  };
  // Launch 5 us, primitive 1 us; the first lines are visible after 4.096 and 2 us, plus the next primitive's 1 us.
  const std::vector<double> quick = ends(Protocol::kLl, 1'000'000_GBps);
  EXPECT_NEAR(quick[0], 6.0 + 20.48, 0.01);
  EXPECT_NEAR(quick[1], 6.0 + 7.096 + 20.48, 0.01);
  EXPECT_NEAR(quick[2], 6.0 + 2 * 7.096 + 20.48, 0.01);
  // 40.96 us on a wire of 1 GB/s: the last lines are visible at 48.96, and stored to the third rank by 4.096 and 8.192
  // us.
  const std::vector<double> slow = ends(Protocol::kLl, 1_GBps);
  EXPECT_NEAR(slow[0], 46.96, 0.01);
  EXPECT_NEAR(slow[1], 48.96 + 4.096 + 8.192, 0.01);
  EXPECT_NEAR(slow[2], 61.248 + 2.0 + 4.096, 0.01);
  // Simple signals whole messages: nothing begins before its first slice has arrived.
  EXPECT_GT(ends(Protocol::kSimple, 1'000'000_GBps)[1], 6.0 + 20.48 + 2.0);
}

// On a wire of 1.8 GB/s the second rank's own 32,768 bytes take from 13.096 to 31.30 us. The first rank's last lines
// are visible at 6 + 22.756 + 2 us and are on the wire until 35.31 us, concurrently with the block, which takes 20.48
// us by itself.
TEST(PrimitiveTime, ABlockWaitsForItsOwnStoresAndNotForLinesThatCameLate) {
  const ChannelAlgorithm* ring = collectives::find_channel_algorithm("ring");
  ASSERT_NE(ring, nullptr);
  const CollectivePlan plan{.algorithm = "ring", .protocol = Protocol::kLl, .channels = 1};
  const RunResult result = play(
      {.algorithm = *ring, .plan = plan, .bytes = Bytes(20'480), .ranks = 3, .per_host = 3, .wire = Bandwidth(1.8e9)});
  EXPECT_NEAR(to_seconds(end_of(result, 1) - TimePoint()) * 1e6, 13.096 + 20.48, 0.01);
}

}  // namespace
}  // namespace ringwright::primitive_time_test
