#include "planning/operation/progress.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::planning::progress_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr JobTime seconds(std::int64_t count) {
  return JobTime(count * kSecond);
}

Progress with(std::vector<SaveRule> rules) {
  return {seconds(10), std::move(rules)};
}

TEST(Progress, TrainsInWholeSteps) {
  Progress progress = with({});
  Accounts accounts;
  progress.run({}, seconds(34), accounts);
  EXPECT_EQ(progress.steps(), 3);
  EXPECT_EQ(accounts[Account::kProductive], seconds(34));
  EXPECT_EQ(progress.until(4), seconds(6));
}

TEST(Progress, StallsAfterTheStepsOfATier) {
  Progress progress = with({{.every = 2, .stall = seconds(3)}});
  Accounts accounts;
  progress.run({}, seconds(23 + 21), accounts);  // 2 steps, a stall, 2 steps, and 1 s of the next stall
  EXPECT_EQ(progress.steps(), 4);
  EXPECT_EQ(accounts[Account::kProductive], seconds(40));
  EXPECT_EQ(accounts[Account::kCheckpoint], seconds(4));
  EXPECT_EQ(progress.version(0, seconds(44)), 2);  // the second one is not complete
  progress.run(seconds(44), seconds(2), accounts);
  EXPECT_EQ(progress.version(0, seconds(46)), 4);
  EXPECT_EQ(accounts.sum(), seconds(46));
}

// After 2 steps of 10 s, 1 s of a stall of 3 s; then saves stall for 12 s, so that 8 s are left, and then for no time.
TEST(Progress, AStallInProgressChangesWithTheRegime) {
  Progress progress = with({{.every = 2, .stall = seconds(3)}});
  Accounts accounts;
  progress.run({}, seconds(21), accounts);
  progress.set_stall(0, seconds(12));
  EXPECT_EQ(progress.until(3), seconds(8 + 10));
  progress.set_stall(0, JobTime());
  progress.run(seconds(21), seconds(1), accounts);
  EXPECT_EQ(progress.saves(), 1);
  EXPECT_EQ(progress.version(0, seconds(22)), 2);
}

TEST(Progress, VersionsCountOnceTheyAreWritten) {
  Progress progress = with({{.every = 2, .stall = seconds(1), .write = seconds(15)}});
  Accounts accounts;
  progress.run({}, seconds(35), accounts);
  EXPECT_EQ(progress.version(0, seconds(35)), 0);  // saved at 21 s, written at 36 s
  EXPECT_EQ(progress.version(0, seconds(36)), 2);
  progress.stop_writing(seconds(35));
  EXPECT_EQ(progress.version(0, seconds(60)), 0);
}

TEST(Progress, LostWorkMovesToReplay) {
  Progress progress = with({{.every = 2}});
  Accounts accounts;
  progress.run({}, seconds(37), accounts);
  EXPECT_EQ(progress.roll_back(progress.version(0, seconds(37)), accounts), seconds(17));
  EXPECT_EQ(progress.steps(), 2);
  EXPECT_EQ(accounts[Account::kProductive], seconds(20));
  EXPECT_EQ(accounts[Account::kReplay], seconds(17));
}

TEST(Progress, SlowStepsAreProductiveForTheirHealthyTime) {
  Progress progress = with({});
  Accounts accounts;
  progress.run({}, seconds(5), accounts);
  progress.set_step_wall(seconds(15));
  progress.run(seconds(5), seconds(30), accounts);  // 7.5 s finish the step, 15 s the next, then half of one
  EXPECT_EQ(progress.steps(), 2);
  EXPECT_EQ(accounts[Account::kProductive], seconds(25));
  EXPECT_EQ(accounts[Account::kDegraded], seconds(10));
}

TEST(Progress, OnlyAStoreHoldsOldVersions) {
  Progress progress = with({{.every = 2}, {.every = 3, .holds_all = false}});
  Accounts accounts;
  progress.run({}, seconds(100), accounts);
  EXPECT_EQ(progress.version_before(0, seconds(100), 7), 6);
  progress.stop_writing(seconds(100));
  progress.roll_back(7, accounts);
  EXPECT_EQ(progress.version(0, seconds(100)), 6);
  EXPECT_EQ(progress.version(1, seconds(100)), 0);
}

// One long run against the same in random short ones: multiples of steps are advanced to the nanosecond.
TEST(Progress, MultiplesOfStepsAreExact) {
  const std::vector<SaveRule> rules{{.every = 3, .stall = JobTime(777'777'777), .write = seconds(7)},
                                    {.every = 7, .stall = seconds(2), .write = seconds(20)}};
  Progress whole({JobTime(1'234'567'891)}, rules);
  Progress pieces({JobTime(1'234'567'891)}, rules);
  Accounts of_whole, of_pieces;
  const JobTime all = seconds(5000);
  RandomStream stream(3, "pieces");
  for (JobTime now; now < all;) {
    const JobTime piece =
        std::min(JobTime(static_cast<std::int64_t>(stream.next_below(9'000'000'000ULL)) + 1), all - now);
    pieces.run(now, piece, of_pieces);
    now += piece;
    whole = Progress({JobTime(1'234'567'891)}, rules);
    of_whole = {};
    whole.run({}, now, of_whole);
    ASSERT_EQ(pieces.steps(), whole.steps());
    ASSERT_EQ(of_pieces.times, of_whole.times);
    for (const std::size_t tier : {0U, 1U}) ASSERT_EQ(pieces.version(tier, now), whole.version(tier, now));
  }
  EXPECT_EQ(of_whole.sum(), all);
}

}  // namespace
}  // namespace ringwright::planning::progress_test
