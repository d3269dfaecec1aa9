#include "planning/sweep/idle_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::idle_keys_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::IsEmpty;

SweepRow row(const std::string& a, const std::string& b, Duration step, PointStatus status = PointStatus::kOk) {
  SweepRow made{.values = {{.key = "a", .value = a}, {.key = "b", .value = b}}, .is_known = true};
  made.point.status = status;
  made.point.figures.step = step;
  made.point.figures.gpus = 8;
  return made;
}

std::vector<std::string> idle(const std::vector<SweepRow>& rows) {
  std::vector<std::string> keys;
  for (const IdleKey& each : idle_keys({"a", "b"}, rows)) keys.push_back(each.key);
  return keys;
}

TEST(IdleKeys, AreThoseThatNoPairOfPointsTellsApart) {
  EXPECT_THAT(idle({row("1", "1", 5_ms), row("1", "2", 5_ms), row("2", "1", 7_ms), row("2", "2", 7_ms)}),
              ElementsAre("b"));
}

TEST(IdleKeys, OneDifferentPairIsAnEffect) {
  EXPECT_THAT(idle({row("1", "1", 5_ms), row("1", "2", 5_ms), row("2", "1", 7_ms), row("2", "2", 8_ms)}), IsEmpty());
}

TEST(IdleKeys, APointThatIsRefusedOnOneSideIsAnEffect) {
  EXPECT_THAT(idle({row("1", "1", 5_ms), row("1", "2", 5_ms, PointStatus::kRefused), row("2", "1", 7_ms)}), IsEmpty());
}

TEST(IdleKeys, MemoryAndMoneyAreEffectsToo) {
  SweepRow larger = row("1", "2", 5_ms);
  larger.point.figures.memory = 1_GiB;
  SweepRow dearer = row("1", "2", 5_ms);
  dearer.point.figures.cost.usd_per_tera_tokens = 3.0;
  EXPECT_THAT(idle({row("1", "1", 5_ms), larger}), IsEmpty());
  EXPECT_THAT(idle({row("1", "1", 5_ms), dearer}), IsEmpty());
}

// Samples differ in every key, so that no pair says anything of one.
TEST(IdleKeys, NothingIsSaidWithoutPairs) {
  EXPECT_THAT(idle({row("1", "1", 5_ms), row("2", "2", 5_ms)}), IsEmpty());
  SweepRow unknown = row("1", "2", 5_ms);
  unknown.is_known = false;
  EXPECT_THAT(idle({row("1", "1", 5_ms), unknown}), IsEmpty());
}

}  // namespace
}  // namespace ringwright::planning::idle_keys_test
