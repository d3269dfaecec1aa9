// Kinds of edges: equal edges of all members, calls and dimensions share one.
#include "core/symmetry/edge_kinds.h"

#include <gtest/gtest.h>

namespace ringwright::edge_kinds_test {
namespace {

TEST(EdgeKinds, EveryFieldCounts) {
  const EdgeKind first = {.role = 7, .label = 3};
  EdgeKinds kinds;
  EXPECT_EQ(kinds.index_of(first), 0U);
  EdgeKind role = first, label = first, nics = first, kind = first, starts = first, shared = first;
  role.role = 8;
  label.label = 4;
  nics.nics.out = 1;
  kind.route_kind = RouteKind::kPxn;
  starts.starts_flow = true;
  shared.shared_in = 1;
  std::uint32_t next = 1;
  for (const EdgeKind& other : {role, label, nics, kind, starts, shared}) EXPECT_EQ(kinds.index_of(other), next++);
  EXPECT_EQ(kinds.index_of(first), 0U);
  EXPECT_EQ(kinds.take().size(), 7U);
}

// Two members that send to each other on one channel, in two dimensions: the label names the dimension.
TEST(EdgeKinds, ADimensionHasKindsOfItsOwn) {
  const MemberEdge send = {.peer = 1, .channel = 2, .starts_flow = true, .role = 5};
  MemberEdge back = send;
  back.peer = 0;
  const MemberPattern pattern = {.edges = {{send}, {back}}, .costs = 9};
  EdgeKinds kinds;
  const KindPattern tensor = by_kind(pattern, DimensionId(0), false, kinds);
  const KindPattern data = by_kind(pattern, DimensionId(1), true, kinds);
  EXPECT_EQ(tensor.all.costs, 9U);
  EXPECT_EQ(tensor.edges[0][0].kind, tensor.edges[1][0].kind);
  EXPECT_EQ(tensor.edges[1][0].peer, 0);
  EXPECT_NE(tensor.edges[0][0].kind, data.edges[0][0].kind);
  const std::vector<EdgeKind> all = kinds.take();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].shared_in, 0U);
  EXPECT_EQ(all[1].shared_in, 2U);
}

}  // namespace
}  // namespace ringwright::edge_kinds_test
