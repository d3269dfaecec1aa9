// Who waits for whom in a ring, and in several at once.
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ports/ring_shape.h"

namespace ringwright::ring_shape_test {
namespace {

using testing::ElementsAre;

TEST(RingShape, AMemberOfOneRingAwaitsTheOneBefore) {
  const RingShape shape = RingShape::one_ring(3);
  EXPECT_EQ(shape.members(), 3U);
  EXPECT_EQ(shape.edges(), 3U);
  EXPECT_THAT(shape.awaited_by(0), ElementsAre(0, 2));
  EXPECT_THAT(shape.awaited_by(1), ElementsAre(1, 0));
  EXPECT_THAT(shape.waiting_for(2), ElementsAre(2, 0));
  EXPECT_TRUE(shape.is_one_ring());
}

// Member 0 has edges 0 and 1, member 1 has edges 2 and 3.
TEST(RingShape, AMemberOfSeveralRingsAwaitsItsOwnEdgesAndOthersOnce) {
  const std::vector<RingShape::Member> members = {{.edges = 2, .awaits = {2, 3}}, {.edges = 2, .awaits = {0, 2, 0}}};
  const RingShape shape(members);
  EXPECT_EQ(shape.first_edge(1), 2U);
  EXPECT_EQ(shape.end_edge(1), 4U);
  EXPECT_EQ(shape.member_of(3), 1U);
  EXPECT_THAT(shape.awaited_by(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(shape.awaited_by(1), ElementsAre(2, 3, 0));
  EXPECT_THAT(shape.waiting_for(0), ElementsAre(0, 1));
  EXPECT_THAT(shape.waiting_for(1), ElementsAre(0));
  EXPECT_FALSE(shape.is_one_ring());
}

TEST(RingShape, IsNoRingInAnotherOrder) {
  const std::vector<RingShape::Member> members = {{.awaits = {1}}, {.awaits = {2}}, {.awaits = {0}}};
  EXPECT_FALSE(RingShape(members).is_one_ring());
}

}  // namespace
}  // namespace ringwright::ring_shape_test
