#include "workload/layout/replica_microbatches.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::workload::replica_microbatches_test {
namespace {

using testing::ElementsAre;

double end_of(const std::vector<ReplicaTime>& replicas, const std::vector<std::int64_t>& shares) {
  double end = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) end = std::max(end, replicas[i].of(shares[i]));
  return end;
}

// Over every split of the rest among replicas from `first` on.
double least_end(const std::vector<ReplicaTime>& replicas, std::size_t first, std::int64_t rest) {
  if (first + 1 == replicas.size()) return replicas[first].of(rest);
  double least = 1e300;
  const auto after = static_cast<std::int64_t>(replicas.size() - first - 1);
  for (std::int64_t own = 1; own + after <= rest; ++own) {
    least = std::min(least, std::max(replicas[first].of(own), least_end(replicas, first + 1, rest - own)));
  }
  return least;
}

// 12 microbatches on replicas of speeds 2 : 1 without filling: 8 x 1 s = 4 x 2 s.
TEST(ReplicaMicrobatches, AProportionalSplitEqualisesTwoKindsOfGpus) {
  const std::vector<ReplicaTime> replicas = {{.fill = 0.0, .slowest = 1.0}, {.fill = 0.0, .slowest = 2.0}};
  const auto shares = share_by_speed(replicas, 12);
  EXPECT_THAT(shares, ElementsAre(8, 4));
  EXPECT_DOUBLE_EQ(replicas[0].of(shares[0]), replicas[1].of(shares[1]));
}

TEST(ReplicaMicrobatches, EveryReplicaGetsOne) {
  const std::vector<ReplicaTime> replicas = {{.fill = 0.0, .slowest = 1.0}, {.fill = 0.0, .slowest = 1000.0}};
  EXPECT_THAT(share_by_speed(replicas, 10), ElementsAre(9, 1));
}

TEST(ReplicaMicrobatches, NoOtherSplitEndsEarlier) {
  RandomStream random(7, "replicas");
  for (int round = 0; round < 200; ++round) {
    std::vector<ReplicaTime> replicas(1 + random.next_below(4));
    for (ReplicaTime& replica : replicas) {
      replica.fill = 0.25 * static_cast<double>(random.next_below(20));
      replica.slowest = 0.5 + 0.25 * static_cast<double>(random.next_below(12));
    }
    const auto microbatches = static_cast<std::int64_t>(replicas.size() + random.next_below(10));
    const auto shares = share_by_speed(replicas, microbatches);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), microbatches);
    EXPECT_DOUBLE_EQ(end_of(replicas, shares), least_end(replicas, 0, microbatches)) << "round " << round;
  }
}

// 1,000,000 microbatches: as many as the batch of a year would have; sharing one by one would take minutes.
TEST(ReplicaMicrobatches, ManyAreSharedAtOnce) {
  std::vector<ReplicaTime> replicas(1000, {.fill = 1.0, .slowest = 1.0});
  replicas[5].slowest = 3.0;
  const auto shares = share_by_speed(replicas, 1'000'000'000);
  EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), 1'000'000'000);
  EXPECT_NEAR(3.0 * static_cast<double>(shares[5]), static_cast<double>(shares[0]), 3.0);
}

}  // namespace
}  // namespace ringwright::workload::replica_microbatches_test
