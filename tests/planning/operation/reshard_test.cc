#include "planning/operation/reshard.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::planning::reshard_test {
namespace {

JobShape job_of(std::int64_t hosts, std::int64_t replicas) {
  return {.gpus = hosts * 8, .gpus_per_host = 8, .replicas = replicas};
}

// The same with sets of pieces: what each host needs and does not have.
Resharding by_sets(const JobShape& job, const std::vector<std::int64_t>& empty, const HostLayout& to) {
  const std::int64_t from = job.hosts_per_replica(), pieces = 1;
  const std::int64_t units = from * to.hosts_per_replica * pieces;
  std::vector<std::set<std::int64_t>> held;
  std::set<std::int64_t> all;
  for (std::int64_t slot = 0; slot < job.hosts(); ++slot) {
    if (std::find(empty.begin(), empty.end(), slot) != empty.end()) continue;
    std::set<std::int64_t> own;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      if (unit * from / units == slot % from) own.insert(unit);
    }
    all.insert(own.begin(), own.end());
    held.push_back(std::move(own));
  }
  Resharding result{.is_complete = std::ssize(all) == units};
  for (std::int64_t place = 0; place < to.hosts(); ++place) {
    std::int64_t fetched = 0;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      const bool needed = unit * to.hosts_per_replica / units == place % to.hosts_per_replica;
      const bool has = place < std::ssize(held) && held[static_cast<std::size_t>(place)].contains(unit);
      fetched += needed && !has ? 1 : 0;
    }
    result.moved += static_cast<double>(fetched) / static_cast<double>(units);
    result.largest = std::max(result.largest, static_cast<double>(fetched) / static_cast<double>(units));
  }
  return result;
}

TEST(Reshard, MovesWhatIsNeededAndNotThere) {
  for (const auto& [hosts, replicas] : {std::pair(8, 4), std::pair(8, 2), std::pair(12, 3), std::pair(9, 3)}) {
    for (const std::int64_t least : {1, 2, 3}) {
      for (const std::vector<std::int64_t>& empty :
           {std::vector<std::int64_t>{}, {0}, {3}, {7}, {0, 1}, {2, 5}, {0, 2, 4, 6}}) {
        const JobShape job = job_of(hosts, replicas);
        const HostLayout to = layout_over(job, hosts - std::ssize(empty), least);
        if (to.replicas < 1) continue;
        const Resharding ours = reshard(job, empty, to), sets = by_sets(job, empty, to);
        EXPECT_EQ(ours.is_complete, sets.is_complete);
        EXPECT_NEAR(ours.moved, sets.moved, 1e-12) << hosts << " " << replicas << " " << empty.size();
        EXPECT_NEAR(ours.largest, sets.largest, 1e-12);
      }
    }
  }
}

// The same layout with every host there: nothing. Four hosts in two replicas that lose one, and go on with one replica
// of three hosts: they held halves, and need thirds.
TEST(Reshard, OfTheSameLayoutMovesNothing) {
  const JobShape job = job_of(8, 4);
  EXPECT_EQ(reshard(job, {}, layout_over(job, 8, 2)).moved, 0.0);
  const JobShape small = job_of(4, 2);
  const std::vector<std::int64_t> lost{0};
  const HostLayout to = layout_over(small, 3, 2);
  EXPECT_EQ(to.replicas, 1);
  EXPECT_EQ(to.hosts_per_replica, 3);
  // [1/2, 1) to [0, 1/3): all; [0, 1/2) to [1/3, 2/3): a sixth; [1/2, 1) to [2/3, 1): nothing.
  const Resharding moves = reshard(small, lost, to);
  EXPECT_NEAR(moves.moved, 1.0 / 3.0 + 1.0 / 6.0, 1e-12);
  EXPECT_NEAR(moves.largest, 1.0 / 3.0, 1e-12);
  EXPECT_TRUE(moves.is_complete);
}

TEST(Reshard, SaysWhereAPartIsOnNoHost) {
  const std::vector<std::int64_t> both{0, 2};  // the first halves of two replicas
  const JobShape job = job_of(4, 2);
  EXPECT_FALSE(reshard(job, both, layout_over(job, 2, 2)).is_complete);
}

}  // namespace
}  // namespace ringwright::planning::reshard_test
