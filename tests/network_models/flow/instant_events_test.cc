#include "network_models/flow/instant_events.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::instant_events_test {
namespace {

using namespace ringwright::literals;

TEST(InstantEvents, AnInstantEndsOnceHoweverOftenItIsAsked) {
  Engine engine;
  InstantEvents events(engine);
  int ends = 0;
  const auto ask = [&] { events.at_end([&ends] { ++ends; }); };
  engine.at(TimePoint(1_us), ask);
  engine.at(TimePoint(1_us), ask);
  engine.run();
  EXPECT_EQ(ends, 1);
  engine.at(TimePoint(2_us), ask);
  engine.run();
  EXPECT_EQ(ends, 2);
}

TEST(InstantEvents, TheLatestWakeUpCounts) {
  Engine engine;
  InstantEvents events(engine);
  std::vector<TimePoint> woken;
  const auto wake = [&] { woken.push_back(engine.now()); };
  events.wake_at(TimePoint(3_us), wake);
  events.wake_at(TimePoint(2_us), wake);
  engine.run();
  EXPECT_EQ(woken, std::vector{TimePoint(2_us)});
  events.wake_at(TimePoint(5_us), wake);
  events.wake_at(kNever, wake);
  engine.run();
  EXPECT_EQ(woken.size(), 1U);
  events.wake_at(TimePoint(6_us), wake);
  engine.run();
  EXPECT_EQ(woken.back(), TimePoint(6_us));
}

}  // namespace
}  // namespace ringwright::network_models::instant_events_test
