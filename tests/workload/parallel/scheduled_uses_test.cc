#include "workload/parallel/scheduled_uses.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::workload::scheduled_uses_test {
namespace {

// One layer of two points between an embedding and a head: three units, or fewer where tensors are wrapped together.
std::vector<ModelChunk> one_layer() {
  ModelChunk part{.number = 0, .layers = 1, .embedding = true, .head = true, .points = {}, .tensors = {}};
  for (const PointKind kind : {PointKind::kEmbedding, PointKind::kAttention, PointKind::kMlp, PointKind::kHead}) {
    part.points.push_back(kind);
    part.tensors.push_back({{.name = "w", .elements = 8}});
  }
  return {part};
}

TEST(ScheduledUses, FollowThePointsOfEachPass) {
  const ShardingOptions options;
  const std::vector<Slot> slots = {{Pass::kForward, 0, 0}, {Pass::kBackward, 0, 0}};
  const ShardUnits units(one_layer(), options);
  ScheduledUses uses(GatherSchedule(units, options, units.uses(slots)));
  const auto pass_through = [&](std::size_t point) {
    const bool first = uses.begin();
    EXPECT_EQ(uses.now().unit, units.unit_at(0, point));
    const bool last = uses.ends_with(units, 0, point);
    if (last) uses.end();
    return std::pair(first, last);
  };
  // The layer is one unit: its use begins with the attention and ends with the MLP.
  EXPECT_EQ(units.unit_at(0, 1), units.unit_at(0, 2));
  (void)pass_through(0);
  EXPECT_EQ(pass_through(1), std::pair(true, false));
  EXPECT_FALSE(uses.all_done());
  EXPECT_EQ(pass_through(2).first, false);
  (void)pass_through(3);
  for (std::size_t point = 4; point-- > 0;) {
    EXPECT_EQ(uses.now().pass, Pass::kBackward);
    (void)pass_through(point);
  }
  EXPECT_TRUE(uses.all_done());
}

}  // namespace
}  // namespace ringwright::workload::scheduled_uses_test
