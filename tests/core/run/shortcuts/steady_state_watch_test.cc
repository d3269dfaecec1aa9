#include "core/run/shortcuts/steady_state_watch.h"

#include <gtest/gtest.h>

#include "tests/support/doubles.h"

namespace ringwright::steady_state_watch_test {
namespace {

using namespace ringwright::literals;
using Verdict = SteadyStateWatch::Verdict;

// Two classes without tasks: their hosts are late only when a test makes them.
class SteadyStateWatchTest : public testing::Test {
 protected:
  SteadyStateWatchTest() { watch_.begin_step(TimePoint()); }

  static RankClasses two_classes() { return identity_classes(2); }
  static TaskGraph idle_graph() {
    TaskGraph graph;
    graph.programs.resize(1);
    graph.program_of.assign(2, ProgramId(0));
    return graph;
  }
  // Cycle by cycle, 10 us apart; the second class is two cycles ahead.
  Verdict observe(std::uint64_t digest, Duration ahead = Duration(0)) {
    const std::uint32_t cycle = cycle_++;
    return watch_.observe(
        {.at = at(cycle),
         .digest = digest,
         .places = {{.cycle = cycle, .host_behind = Duration(0), .receives_behind = Duration(0)},
                    {.cycle = cycle + 2, .host_behind = Duration(0) - ahead, .receives_behind = Duration(0)}}});
  }
  static TimePoint at(std::uint32_t cycle) { return TimePoint(10_us * std::int64_t{cycle}); }

  TaskGraph graph_ = idle_graph();
  RankClasses classes_ = two_classes();
  test::PlainCompute compute_;
  HostClock host_{{.graph = graph_, .programs = graph_.programs, .classes = classes_, .compute = compute_}};
  SteadyStateWatch watch_{host_, 100};
  std::uint32_t cycle_ = 0;
};

TEST_F(SteadyStateWatchTest, ProvesWhatIsAsOneCycleBefore) {
  EXPECT_EQ(observe(1), Verdict::kBegins);
  EXPECT_EQ(observe(2), Verdict::kBegins);
  EXPECT_EQ(observe(2), Verdict::kProved);
  EXPECT_EQ(watch_.periods(), 100U);
  EXPECT_TRUE(watch_.held(ClassId(0), 0));
}

TEST_F(SteadyStateWatchTest, WaitsForAPeriodOfSeveralCycles) {
  EXPECT_EQ(observe(1), Verdict::kBegins);
  EXPECT_EQ(observe(2), Verdict::kBegins);
  EXPECT_EQ(observe(1), Verdict::kBegins);
  EXPECT_EQ(observe(2), Verdict::kGoOn);
  EXPECT_EQ(observe(1), Verdict::kProved);
  EXPECT_EQ(watch_.periods(), 50U);
}

// 100 cycles are 33 periods of three and one cycle, which is to be simulated.
TEST_F(SteadyStateWatchTest, LeavesOutWholePeriodsOnly) {
  for (const std::uint64_t digest : {1U, 2U, 3U, 1U, 2U, 3U}) EXPECT_NE(observe(digest), Verdict::kProved);
  EXPECT_EQ(observe(1), Verdict::kProved);
  EXPECT_EQ(watch_.beyond_periods(), 1U);
  watch_.take_in(1);
  EXPECT_EQ(watch_.periods(), 33U);
}

// Only the first step can take cycles in.
TEST_F(SteadyStateWatchTest, LaterStepsFindPeriodsThatDivideWhatIsLeftOut) {
  watch_.begin_step(TimePoint());
  for (int i = 0; i < 4; ++i) {
    for (const std::uint64_t digest : {1U, 2U, 3U}) EXPECT_NE(observe(digest), Verdict::kProved);
  }
}

TEST_F(SteadyStateWatchTest, FindsNoPeriodLongerThanWhatIsLeftOut) {
  watch_.take_in(98);
  for (int i = 0; i < 4; ++i) {
    for (const std::uint64_t digest : {1U, 2U, 3U}) EXPECT_NE(observe(digest), Verdict::kProved);
  }
}

TEST_F(SteadyStateWatchTest, IsOffWhenAllCyclesAreTakenIn) {
  watch_.take_in(100);
  EXPECT_FALSE(watch_.on());
  EXPECT_FALSE(watch_.searches());
}

TEST_F(SteadyStateWatchTest, TakesAHostThatGetsFurtherAhead) {
  EXPECT_EQ(observe(1, 1_us), Verdict::kBegins);
  EXPECT_EQ(observe(1, 2_us), Verdict::kProved);
  EXPECT_TRUE(watch_.held(ClassId(1), 0));
}

TEST_F(SteadyStateWatchTest, RefusesAHostThatFallsBehind) {
  EXPECT_EQ(observe(1, 2_us), Verdict::kBegins);
  EXPECT_EQ(observe(1, 1_us), Verdict::kBegins);
}

TEST_F(SteadyStateWatchTest, RefusesAHostThatGetsAheadWhileItsDeviceWaitsForIt) {
  EXPECT_EQ(observe(1, 1_us), Verdict::kBegins);
  host_.note_late(ClassId(1), at(0) + 1_us);
  EXPECT_EQ(observe(1, 2_us), Verdict::kBegins);
}

// It was less far ahead in the simulated cycles than in the whole step: there, nothing may have waited.
TEST_F(SteadyStateWatchTest, DoesNotHoldWhenSuchAHostIsLateAfterwards) {
  EXPECT_EQ(observe(1, 1_us), Verdict::kBegins);
  EXPECT_EQ(observe(1, 2_us), Verdict::kProved);
  host_.note_late(ClassId(0), at(3));
  EXPECT_TRUE(watch_.held(ClassId(0), 0));
  host_.note_late(ClassId(1), at(3));
  EXPECT_FALSE(watch_.held(ClassId(1), 0));
}

TEST_F(SteadyStateWatchTest, EveryTrainingStepNeedsItsOwnProof) {
  observe(1);
  EXPECT_EQ(observe(1), Verdict::kProved);
  watch_.begin_step(TimePoint());
  EXPECT_TRUE(watch_.held(ClassId(0), 0));
  EXPECT_FALSE(watch_.held(ClassId(0), 1));
}

// The second class begins its cycle later from cycle to cycle, by half as much each time: from 8 us to 16 us.
class NearlyEqualCyclesTest : public SteadyStateWatchTest {
 protected:
  struct Cycle {
    Duration lag;                   // of the second class
    std::uint32_t done_beyond = 0;  // of its tasks
    Duration longer;                // than 10 us, since the cycle before
    bool is_long = true;
  };
  Verdict observe(SteadyStateWatch& watch, const Cycle& cycle) {
    now_ = now_ + 10_us + cycle.longer;
    const std::uint32_t number = cycle_++;
    const SteadyStateWatch::Position first{.cycle = number};
    const SteadyStateWatch::Position second{
        .cycle = number, .since_begin = cycle.lag, .done_beyond = cycle.done_beyond, .host_behind = cycle.lag};
    return watch.observe({.at = now_, .digest = number, .is_long = cycle.is_long, .places = {first, second}});
  }
  // How many cycles of the pattern are seen until it counts as a period; 0: none does in 40 cycles.
  template <class Pattern>
  int proved_after(double tolerance, const Pattern& pattern) {
    SteadyStateWatch watch(host_, 100, tolerance);
    watch.begin_step(TimePoint());
    for (int i = 1; i <= 40; ++i) {
      if (observe(watch, pattern(i)) != Verdict::kProved) continue;
      most_change_ = watch.most_change();
      return i;
    }
    return 0;
  }
  static Cycle closer(int i) { return {.lag = 16_us - Duration((8_us).count() >> i)}; }

  TimePoint now_;
  Duration most_change_;
};

TEST_F(NearlyEqualCyclesTest, CountAsAPeriodOnceTheirChangesAreSmall) {
  const int soon = proved_after(1e-2, closer);
  const int later = proved_after(1e-4, closer);
  EXPECT_GT(soon, 2);
  EXPECT_GT(later, soon + 5);
  EXPECT_GT(most_change_, Duration(0));
  EXPECT_LE(most_change_, 110_ns);  // of 1.1 ms
}

TEST_F(NearlyEqualCyclesTest, CountOnlyWhereTheyMayAndInLongRuns) {
  EXPECT_EQ(proved_after(0.0, closer), 0);
  EXPECT_EQ(proved_after(1e-3, [](int i) {
              Cycle cycle = closer(i);
              cycle.is_long = false;
              return cycle;
            }),
            0);
}

// A class that falls behind by the same from cycle to cycle does so in those that would be left out.
TEST_F(NearlyEqualCyclesTest, DoNotCountWhereAClassFallsBehind) {
  EXPECT_EQ(proved_after(1e-3, [](int i) { return Cycle{.lag = 100_ns * std::int64_t{i}}; }), 0);
  EXPECT_NE(proved_after(1e-3, [](int i) { return Cycle{.lag = 1_ns * std::int64_t{i}}; }), 0);
}

TEST_F(NearlyEqualCyclesTest, DoNotCountWhereTasksAreLeftBehind) {
  EXPECT_EQ(proved_after(1e-3, [](int i) { return Cycle{.done_beyond = static_cast<std::uint32_t>(-i)}; }), 0);
}

TEST_F(NearlyEqualCyclesTest, DoNotCountWhereTheyTakeLongerAndLonger) {
  EXPECT_EQ(proved_after(1e-3, [](int i) { return Cycle{.longer = 100_ns * std::int64_t{i}}; }), 0);
}

TEST(LeftOutCycles, AddWhatAPeriodAdds) {
  LeftOutCycles cycles(1, 1);
  StepSnapshot begin{.at = TimePoint(3_us),
                     .time_in = {{{.mask = 0, .time = 1_us}, {.mask = kComputing, .time = 2_us}}},
                     .sent = {{Bytes(10)}},
                     .messages = 4};
  StepSnapshot end{.at = TimePoint(7_us),
                   .time_in = {{{.mask = 0, .time = 2_us}, {.mask = kComputing, .time = 5_us}}},
                   .sent = {{Bytes(25)}},
                   .messages = 6};
  cycles.add(begin, end, 10);
  EXPECT_EQ(cycles.time(), 40_us);
  cycles.extend(end);
  EXPECT_EQ(end.at, TimePoint(47_us));
  EXPECT_EQ(end.time_in[0][kComputing], 35_us);  // 5 us and ten times 3 us
  EXPECT_EQ(end.sent[0][0], Bytes(175));
  EXPECT_EQ(end.messages, 26U);
  cycles.restart(ClassId(0));
  cycles.extend(begin);
  EXPECT_EQ(begin.time_in[0][kComputing], 2_us);
}

}  // namespace
}  // namespace ringwright::steady_state_watch_test
