// Islands on layouts of several kinds of hosts; the table's conformance tests prove it on hosts of one kind.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"

namespace ringwright::collectives::islands_test {
namespace {

// So many members on each host, and so many hosts of each kind, one kind after the other.
GroupLayout layout_of(int per_host, const std::vector<int>& hosts_of_kind) {
  int hosts = 0;
  for (const int count : hosts_of_kind) hosts += count;
  GroupLayout layout = make_block_layout(per_host * hosts, per_host);
  for (std::size_t kind = 0; kind < hosts_of_kind.size(); ++kind) {
    layout.nic_set.insert(layout.nic_set.end(), static_cast<std::size_t>(hosts_of_kind[kind]),
                          static_cast<int>(kind) * kNicSetsOfKind);
  }
  return layout;
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllGather};

TEST(Islands, EveryMemberEndsWithTheResult) {
  for (const int per_host : {1, 2, 3}) {
    for (const std::vector<int>& hosts : {std::vector{1, 1}, {2, 2}, {3, 3}, {2, 2, 2}, {1, 1, 1, 1}}) {
      const GroupLayout layout = layout_of(per_host, hosts);
      for (const CollectiveKind kind : kKinds) {
        for (const std::int64_t bytes : {1, 97, 4096}) {
          const CollectiveCall call{.kind = kind, .bytes = Bytes(bytes), .layout = &layout};
          ASSERT_TRUE(find_algorithm("islands")->supports(call));
          const Proof proof = prove(*find_algorithm("islands"), call);
          EXPECT_EQ(proof.violation, "") << per_host << " on a host, " << hosts.size() << " islands, " << bytes;
        }
      }
    }
  }
}

// 8 members on each of 2 hosts of 2 islands: 2 (7 + 1 + 1) steps instead of a ring's 2 x 31; across islands each member
// sends 2 x 1/32 of the buffer.
TEST(Islands, FewBytesLeaveAnIsland) {
  const GroupLayout layout = layout_of(8, {2, 2});
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(3200), .layout = &layout};
  const CollectiveAlgorithm& islands = *find_algorithm("islands");
  EXPECT_EQ(islands.steps(call), 18);
  std::int64_t across = 0;
  CollectiveStep step;
  for (int index = 0; index < islands.steps(call); ++index) {
    for (int member = 0; member < 32; ++member) {
      islands.step(call, member, index, step);
      for (const CollectiveSend& send : step.sends) {
        if ((member < 16) != (send.peer < 16)) across += send.size.count();
      }
    }
  }
  EXPECT_EQ(across, 32 * 2 * 100);
}

TEST(Islands, OneIslandIsHierarchical) {
  const GroupLayout layout = make_block_layout(12, 4);
  const CollectiveAlgorithm& islands = *find_algorithm("islands");
  const CollectiveAlgorithm& hierarchical = *find_algorithm("hierarchical");
  for (const CollectiveKind kind : kKinds) {
    const CollectiveCall call{.kind = kind, .bytes = Bytes(1000), .layout = &layout};
    ASSERT_EQ(islands.steps(call), hierarchical.steps(call));
    CollectiveStep a, b;
    for (int index = 0; index < islands.steps(call); ++index) {
      for (int member = 0; member < 12; ++member) {
        islands.step(call, member, index, a);
        hierarchical.step(call, member, index, b);
        EXPECT_EQ(a.sends.front().peer, b.sends.front().peer);
        EXPECT_EQ(a.sends.front().size, b.sends.front().size);
      }
    }
  }
}

TEST(Islands, NeedsIslandsOfEqualSizeInOneStretchEach) {
  const CollectiveAlgorithm& islands = *find_algorithm("islands");
  GroupLayout unequal = layout_of(2, {1, 3});
  EXPECT_FALSE(islands.supports({.kind = CollectiveKind::kAllReduce, .bytes = Bytes(8), .layout = &unequal}));
  GroupLayout mixed_up = layout_of(2, {1, 1, 1, 1});
  mixed_up.nic_set = {0, kNicSetsOfKind, 0, kNicSetsOfKind};
  const CollectiveCall alternating{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(8), .layout = &mixed_up};
  EXPECT_EQ(prove(islands, alternating).violation, "") << "hosts of one kind need not be one island";
  GroupLayout broken = layout_of(2, {2, 2});
  broken.nic_set = {0, 0, kNicSetsOfKind, 0};
  EXPECT_FALSE(islands.supports({.kind = CollectiveKind::kAllReduce, .bytes = Bytes(8), .layout = &broken}));
  const GroupLayout even = layout_of(2, {1, 1});
  EXPECT_FALSE(islands.supports({.kind = CollectiveKind::kBroadcast, .bytes = Bytes(8), .layout = &even}));
}

}  // namespace
}  // namespace ringwright::collectives::islands_test
