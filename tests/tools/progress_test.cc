#include "tools/progress.h"

#include <gtest/gtest.h>

namespace ringwright::tools::progress_test {
namespace {

TEST(ProgressBar, ShowsShareSpeedAndWhatIsLeft) {
  // 2 s for a quarter: 6 s to go.
  EXPECT_EQ(progress_bar({.done = 0.25, .events = 3'000'000, .seconds = 2.0}),
            "[#######-----------------------] 25 %  1.50 M events/s  6 s to go");
}

TEST(ProgressBar, DoesNotGuessFromTheFirstPercent) {
  EXPECT_EQ(progress_bar({.done = 0.005, .events = 1000, .seconds = 0.5}),
            "[------------------------------] 0 %  2 k events/s");
}

TEST(ProgressBar, StaysWithinItsFrame) {
  EXPECT_EQ(progress_bar({.done = 1.2, .events = 0, .seconds = 0.0}).substr(0, 38),
            "[##############################] 100 %");
  EXPECT_EQ(progress_bar({.done = -1.0, .events = 0, .seconds = 0.0}).substr(0, 36),
            "[------------------------------] 0 %");
}

TEST(Progress, SaysNothingWhenAskedForNothing) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::kNone);
    progress.update(0.5, 10);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, AShortRunLeavesNoLinesInALog) {
  ::testing::internal::CaptureStderr();
  Progress progress(ProgressStyle::kLines);
  for (int percent = 0; percent <= 100; ++percent) progress.update(percent / 100.0, 1000);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, TheBarMovesAtMostFiveTimesASecondAndIsTakenAway) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::kBar);
    for (int i = 0; i < 1000; ++i) progress.update(0.5, 1000);
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  std::size_t shown = 0;
  for (std::size_t at = text.find("50 %"); at != std::string::npos; at = text.find("50 %", at + 1)) ++shown;
  EXPECT_EQ(shown, 1u);
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

}  // namespace
}  // namespace ringwright::tools::progress_test
