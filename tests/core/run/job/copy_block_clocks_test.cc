#include "core/run/job/copy_block_clocks.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::copy_block_clocks_test {
namespace {

using namespace ringwright::literals;

constexpr ClassId kRank{0};

struct CaughtUp {
  std::uint64_t token = 0;
  TimePoint when;
};

class Listener final : public CopyBlockListener {
 public:
  explicit Listener(const Engine& engine) : engine_(engine) {}
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return token; }
  void on_caught_up(std::uint64_t token) override { caught_up.push_back({token, engine_.now()}); }

  std::vector<CaughtUp> caught_up;

 private:
  const Engine& engine_;
};

struct Scene {
  Engine engine;
  CopyBlockClocks clocks{engine, 1};
  Listener listener{engine};

  void at(Duration when, auto action) { engine.at(TimePoint(when), action); }
};

TEST(CopyBlockClocks, WithoutKernelsDataAreThroughAtOnce) {
  Scene scene;
  scene.at(3_us, [&scene] { EXPECT_TRUE(scene.clocks.is_through(kRank, {}, scene.listener, 7)); });
  scene.engine.run();
  EXPECT_TRUE(scene.listener.caught_up.empty());
}

TEST(CopyBlockClocks, WhatLagsMakesUpForItAtTheSpeedOfTheMoment) {
  Scene scene;
  scene.at(1_us, [&scene] { scene.clocks.set_speed(kRank, 0.5); });
  scene.at(5_us, [&scene] { EXPECT_FALSE(scene.clocks.is_through(kRank, {}, scene.listener, 7)); });
  scene.at(6_us, [&scene] { scene.clocks.set_speed(kRank, 0.25); });
  scene.at(8_us, [&scene] { scene.clocks.set_speed(kRank, 1.0); });
  scene.engine.run();
  // At 5 us it lags by 4 / 2 = 2 us. It catches up 0.5 us until 6 us, 0.5 us until 8 us, and the rest in 1 us.
  ASSERT_EQ(scene.listener.caught_up.size(), 1U);
  EXPECT_EQ(scene.listener.caught_up.front().token, 7U);
  EXPECT_EQ(scene.listener.caught_up.front().when, TimePoint(9_us));
}

TEST(CopyBlockClocks, OnlyLagSinceTheBeginCounts) {
  Scene scene;
  FineTime at_begin;
  scene.at(0_us, [&scene] { scene.clocks.set_speed(kRank, 0.5); });
  scene.at(4_us, [&scene, &at_begin] { at_begin = scene.clocks.lag(kRank); });
  scene.at(4_us, [&scene] { scene.clocks.set_speed(kRank, 1.0); });
  scene.at(9_us, [&scene, &at_begin] {
    EXPECT_EQ(at_begin, FineTime(2_us));
    EXPECT_TRUE(scene.clocks.is_through(kRank, at_begin, scene.listener, 1));
  });
  scene.engine.run();
}

TEST(CopyBlockClocks, NotifiesInTheOrderOfTheEnds) {
  Scene scene;
  scene.at(0_us, [&scene] { scene.clocks.set_speed(kRank, 0.5); });
  scene.at(4_us, [&scene] { EXPECT_FALSE(scene.clocks.is_through(kRank, {}, scene.listener, 1)); });  // 2 us behind
  const FineTime later(1.5e6);  // 0.5 us behind
  scene.at(4_us, [&scene, later] { EXPECT_FALSE(scene.clocks.is_through(kRank, later, scene.listener, 2)); });
  scene.engine.run();
  ASSERT_EQ(scene.listener.caught_up.size(), 2U);
  EXPECT_EQ(scene.listener.caught_up[0].token, 2U);
  EXPECT_EQ(scene.listener.caught_up[0].when, TimePoint(5_us));
  EXPECT_EQ(scene.listener.caught_up[1].when, TimePoint(8_us));
}

// At a speed of 0.7 for 5 ps data lag by 1.5 ps, which takes 2.14 ps: the end is at 7 ps, with 0.1 ps left by rounding.
// A lower speed from then on does not move it, no matter which of the two comes first.
TEST(CopyBlockClocks, AChangeAtTheInstantOfAnEndDoesNotMoveIt) {
  for (const Duration decided : {Duration(0), Duration(6)}) {
    Scene scene;
    scene.at(Duration(0), [&scene] { scene.clocks.set_speed(kRank, 0.7); });
    scene.at(Duration(5), [&scene] { EXPECT_FALSE(scene.clocks.is_through(kRank, {}, scene.listener, 7)); });
    scene.at(decided, [&scene] { scene.at(Duration(7), [&scene] { scene.clocks.set_speed(kRank, 0.1); }); });
    scene.engine.run();
    ASSERT_EQ(scene.listener.caught_up.size(), 1U);
    EXPECT_EQ(scene.listener.caught_up[0].when, TimePoint(Duration(7))) << decided.count();
  }
}

TEST(CopyBlockClocks, DataNeverGoFasterThanAloneNorStandStill) {
  Scene scene;
  EXPECT_DEATH(scene.clocks.set_speed(kRank, 1.1), "never speed communication up");
  EXPECT_DEATH(scene.clocks.set_speed(kRank, 0.0), "nor stop it");
}

// The digest when data have waited for 2 us since `begin`, having begun at a lag of 0; kernels had run since `early`
// before it.
std::uint64_t digest_of_wait(Duration begin, Duration early, double speed = 0.5) {
  Scene scene;
  std::uint64_t digest = 0;
  FineTime lag;
  scene.at(begin - early, [&] { scene.clocks.set_speed(kRank, speed); });
  scene.at(begin, [&] { lag = scene.clocks.lag(kRank); });
  scene.at(begin + 4_us, [&] { EXPECT_FALSE(scene.clocks.is_through(kRank, lag, scene.listener, 7)); });
  scene.at(begin + 6_us, [&] { digest = mix(scene.clocks.digest(kRank), scene.clocks.digest_of_lag(kRank, lag)); });
  scene.engine.run();
  return digest;
}

TEST(CopyBlockClocks, StatesAreEqualWheneverTheyCome) {
  // 0.3 is no binary fraction: sums of real numbers would depend on how much was added before.
  for (const double speed : {0.5, 0.3}) {
    EXPECT_EQ(digest_of_wait(Duration(5'000'003), 1_us, speed), digest_of_wait(Duration(977'000'000'001), 1_us, speed));
  }
}

TEST(CopyBlockClocks, StatesDifferByLagSpeedAndBegin) {
  EXPECT_NE(digest_of_wait(5_us, 1_us), digest_of_wait(5_us, 2_us));
  EXPECT_NE(digest_of_wait(5_us, 1_us), digest_of_wait(5_us, 1_us, 0.25));
}

}  // namespace
}  // namespace ringwright::copy_block_clocks_test
