#include "tools/progress.h"

#include <chrono>
#include <thread>

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
  EXPECT_EQ(progress_bar({.done = -1.0, .events = 1, .seconds = 0.0}).substr(0, 36),
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

TEST(ProgressLine, ShowsShareSpeedTimeAndWhatIsLeft) {
  EXPECT_EQ(progress_line({.done = 0.25, .events = 9, .seconds = 30.0, .unit = "parts"}),
            "25 %  9 parts, 0.3/s  after 30 s, 90 s to go");
  EXPECT_EQ(progress_line({.done = 0.0, .events = 0, .seconds = 10.0, .unit = "parts"}),
            "0 %  0 parts, 0/s  after 10 s");
  EXPECT_EQ(progress_line({.done = 1.0, .events = 9, .seconds = 10.0, .unit = "parts"}),
            "100 %  9 parts, 0.9/s  after 10 s");
}

TEST(ProgressLine, SaysThatAStepIsSetUpBeforeItsFirstEvent) {
  EXPECT_EQ(progress_line({.done = 0.0, .events = 0, .seconds = 10.0}), "setting up the step  after 10 s");
  EXPECT_EQ(progress_bar({.done = 0.0, .events = 0, .seconds = 3.0}), "setting up the step, 3 s");
}

// Planning and folding a large step report nothing for seconds.
TEST(Progress, TheBarAppearsBeforeTheFirstReport) {
  ::testing::internal::CaptureStderr();
  {
    const Progress progress(ProgressStyle::kBar);
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("setting up the step, 1 s"), std::string::npos) << text;
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

// Whatever is done: work of which one part takes minutes is not silent.
TEST(Progress, ALongRunLeavesALineNowAndThenInALogUntilItIsOver) {
  ::testing::internal::CaptureStderr();
  Progress progress(ProgressStyle::kLines, "parts", std::chrono::milliseconds(20));
  progress.update(0.5, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  progress.clear();
  progress.update(0.75, 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("50 %  3 parts, "), std::string::npos) << text;
  EXPECT_EQ(text.find("75 %"), std::string::npos) << text;
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
