#include "core/engine/engine.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::engine_test {
namespace {

using namespace ringwright::literals;

TEST(Engine, RunsEventsInOrderOfTime) {
  Engine engine;
  std::vector<int> seen;
  engine.after(2_us, [&seen] { seen.push_back(2); });
  engine.after(1_us, [&seen] { seen.push_back(1); });
  EXPECT_EQ(engine.run(), RunEnd::kIdle);
  EXPECT_EQ(seen, (std::vector{1, 2}));
  EXPECT_EQ(engine.now(), TimePoint(2_us));
}

TEST(Engine, RunsEventsOfOneInstantInOrderOfScheduling) {
  Engine engine;
  std::string seen;
  engine.after(1_us, [&seen] { seen += 'a'; });
  engine.after(1_us, [&seen] { seen += 'b'; });
  engine.after(1_us, [&seen] { seen += 'c'; });
  engine.run();
  EXPECT_EQ(seen, "abc");
}

TEST(Engine, ACancelledEventDoesNotRunAndItsSlotIsReusable) {
  Engine engine;
  int ran = 0;
  const EventId first = engine.after(1_us, [&ran] { ran += 1; });
  EXPECT_TRUE(engine.cancel(first));
  EXPECT_FALSE(engine.cancel(first));
  engine.after(1_us, [&ran] { ran += 10; });
  engine.run();
  EXPECT_EQ(ran, 10);
}

TEST(Engine, EndOfInstantComesAfterAllEventsOfTheInstantEvenThoseScheduledLate) {
  Engine engine;
  std::string seen;
  engine.after(1_us, [&engine, &seen] {
    engine.at_end_of_instant([&seen] { seen += 'z'; });
    engine.after(0_us, [&seen] { seen += 'b'; });
    seen += 'a';
  });
  engine.after(2_us, [&seen] { seen += 'c'; });
  engine.run();
  EXPECT_EQ(seen, "abzc");
}

TEST(Engine, EndOfInstantMayExtendTheInstant) {
  Engine engine;
  std::string seen;
  engine.at_end_of_instant([&engine, &seen] {
    seen += '1';
    engine.after(0_us, [&engine, &seen] {
      seen += '2';
      engine.at_end_of_instant([&seen] { seen += '3'; });
    });
  });
  EXPECT_EQ(engine.run(), RunEnd::kIdle);
  EXPECT_EQ(seen, "123");
  EXPECT_EQ(engine.now(), TimePoint());
}

struct Livelock {
  Engine& engine;
  void again() {
    engine.after(Duration(0), [this] { again(); });
  }
};

TEST(Engine, ReportsALivelock) {
  Engine engine;
  Livelock livelock{engine};
  livelock.again();
  EXPECT_EQ(engine.run({.max_events_per_instant = 1000}), RunEnd::kLivelock);
}

TEST(Engine, StopsAtTheEventLimit) {
  Engine engine;
  Livelock livelock{engine};
  livelock.again();
  EXPECT_EQ(engine.run({.max_events = 5}), RunEnd::kTooManyEvents);
  EXPECT_EQ(engine.events_run(), 5U);
}

TEST(Engine, EqualRunsHaveEqualFingerprints) {
  const auto run = [](Duration delay) {
    Engine engine;
    engine.after(delay, [] {});
    engine.after(3_us, [] {});
    engine.run();
    return engine.fingerprint();
  };
  EXPECT_EQ(run(1_us), run(1_us));
  EXPECT_NE(run(1_us), run(2_us));
}

TEST(Engine, NothingHappensAtTheEndOfTheClock) {
  Engine engine;
  int ran = 0;
  engine.after(1_us, [&ran] { ++ran; });
  engine.after(kClockEnd, [&ran] { ++ran; });
  EXPECT_EQ(engine.run(), RunEnd::kClockRanOut);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(engine.now(), TimePoint(1_us));
}

TEST(Engine, WhatWasCancelledAtTheEndOfTheClockDoesNotCount) {
  Engine engine;
  const EventId late = engine.after(kClockEnd, [] {});
  EXPECT_TRUE(engine.cancel(late));
  EXPECT_EQ(engine.run(), RunEnd::kIdle);
}

TEST(EngineDeathTest, RefusesThePast) {
  Engine engine;
  engine.after(1_us, [] {});
  engine.run();
  EXPECT_DEATH(engine.at(TimePoint(), [] {}), "past");
}

}  // namespace
}  // namespace ringwright::engine_test
