// Fewer hosts of a ring over leaves that hold different numbers of its hosts.
#include "configs/simulation/host_runs.h"

#include <map>
#include <tuple>

#include <gtest/gtest.h>

namespace ringwright::configs::host_runs_test {
namespace {

using Hosts = std::vector<int>;

// Leaf switches of this many hosts: within a leaf, or between leaves.
SampledHosts::KindOfPath leaves(int of) {
  return [of](int from, int to) -> std::uint64_t { return from / of == to / of ? 1 : 2; };
}

// Every other host is of another sort, as those are whose rings go over other NICs.
SampledHosts::KindOfPath leaves_of_two_sorts(int of) {
  return [of](int from, int to) -> std::uint64_t {
    return static_cast<std::uint64_t>(from / of == to / of ? 1 : 2) << 8U | static_cast<std::uint64_t>(from % 2) << 4U |
           static_cast<std::uint64_t>(to % 2);
  };
}

// Paths of a ring over these hosts, by kind.
std::map<std::uint64_t, int> paths(const Hosts& hosts, const SampledHosts::KindOfPath& kind) {
  std::map<std::uint64_t, int> count;
  for (std::size_t i = 0; i < hosts.size(); ++i) ++count[kind(hosts[i], hosts[(i + 1) % hosts.size()])];
  return count;
}

Hosts all(int hosts) {
  Hosts result;
  for (int host = 0; host < hosts; ++host) result.push_back(host);
  return result;
}

// 64 hosts on leaves of 20: three full ones and four hosts.
TEST(HostRuns, HaveTheFirstHostsOfEveryLeaf) {
  const HostRuns runs(64, leaves(20));
  EXPECT_EQ(runs.least(), 8);
  EXPECT_EQ(runs.of(8), Hosts({0, 1, 20, 21, 40, 41, 60, 61}));
  EXPECT_EQ(runs.of(7), std::nullopt);
}

TEST(HostRuns, MorePathsAreAllWithinLeaves) {
  for (const int hosts : {32, 52, 64}) {
    const HostRuns runs(hosts, leaves(20));
    const int between = paths(all(hosts), leaves(20))[2];
    for (int few = runs.least(); few < hosts; ++few) {
      const auto sample = runs.of(few);
      ASSERT_TRUE(sample) << few << " of " << hosts;
      EXPECT_EQ(sample->size(), static_cast<std::size_t>(few));
      EXPECT_EQ(paths(*sample, leaves(20))[2], between) << few << " of " << hosts;
    }
  }
}

// An odd number less would put two hosts of one sort side by side: pairs are left out.
TEST(HostRuns, KeepHostsOfTwoSortsInTurns) {
  const SampledHosts::KindOfPath kind = leaves_of_two_sorts(20);
  const HostRuns runs(64, kind);
  ASSERT_GT(runs.least(), 0);
  EXPECT_EQ(runs.of(runs.least() + 1), std::nullopt);
  const auto first = runs.of(runs.least());
  const auto second = runs.of(runs.least() + 4);
  ASSERT_TRUE(first && second);
  std::map<std::uint64_t, int> more = paths(*second, kind);
  for (const auto& [path, count] : paths(*first, kind)) more[path] -= count;
  const std::uint64_t within_from_even = 1U << 8U | 0U << 4U | 1U;
  const std::uint64_t within_from_odd = 1U << 8U | 1U << 4U | 0U;
  for (const auto& [path, count] : more) {
    EXPECT_EQ(count, path == within_from_even || path == within_from_odd ? 2 : 0) << path;
  }
}

TEST(HostRuns, AreNotFoundWhereAllPathsDiffer) {
  const HostRuns runs(16, [](int from, int to) { return static_cast<std::uint64_t>(16 * from + to); });
  EXPECT_EQ(runs.least(), 0);
  EXPECT_EQ(runs.of(8), std::nullopt);
}

}  // namespace
}  // namespace ringwright::configs::host_runs_test
