#include "core/run/job/activity_ledger.h"

#include <gtest/gtest.h>

namespace ringwright::activity_ledger_test {
namespace {

using namespace ringwright::literals;

constexpr ClassId kRank(0);
constexpr DimensionId kDp(1);

// 2 us of computing after 1 us of nothing.
ActivityProfile profile() {
  return ActivityProfile({{.at = 1_us, .bit = 0, .begins = true}, {.at = 3_us, .bit = 0, .begins = false}}, 3_us);
}

// Replicas exchange from 11.5 to 12 us; the pass began at 10 us.
std::vector<ActivityTimes> times_of(bool awaited) {
  ActivityLedger ledger(1, 2);
  const ActivityProfile known = profile();
  awaited ? ledger.await_profile(kRank, TimePoint(10_us)) : ledger.begin_profile(kRank, known, TimePoint(10_us));
  ledger.begin_communication(kRank, kDp, TimePoint(11'500_ns));
  ledger.close(kRank, TimePoint(11'700_ns));
  ledger.end_communication(kRank, kDp, TimePoint(12_us));
  if (awaited) ledger.provide_profile(kRank, known);
  ledger.end_profile(kRank, TimePoint(13_us));
  return ledger.take();
}

TEST(ActivityLedger, BooksAProfileThatIsKnownLaterAsIfItHadBeenKnown) {
  EXPECT_EQ(times_of(true), times_of(false));
  const std::vector<ActivityTimes> times = times_of(true);
  EXPECT_EQ(times[0][kComputing], 1'500_ns);
  EXPECT_EQ(times[0][kComputing | communicating(kDp)], 500_ns);
}

// The time that is not booked yet is part of the state: two moments are equal only if it is.
TEST(ActivityLedger, DigestsWhatIsNotBookedYet) {
  const auto digest_after = [](Duration exchange, bool closes) {
    ActivityLedger ledger(1, 2);
    ledger.await_profile(kRank, TimePoint(10_us));
    ledger.begin_communication(kRank, kDp, TimePoint(11_us));
    if (closes) ledger.close(kRank, TimePoint(11_us) + exchange / 2);
    ledger.end_communication(kRank, kDp, TimePoint(11_us) + exchange);
    if (closes) ledger.close(kRank, TimePoint(15_us));
    return ledger.digest(kRank);
  };
  EXPECT_NE(digest_after(1_us, false), digest_after(2_us, false));
  EXPECT_EQ(digest_after(1_us, false), digest_after(1_us, true));
}

}  // namespace
}  // namespace ringwright::activity_ledger_test
