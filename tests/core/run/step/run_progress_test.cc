#include "core/run/step/run_progress.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::run_progress_test {
namespace {

using namespace ringwright::literals;

TEST(RunProgress, IsTheShareOfEndedTasks) {
  RunProgress progress(2, 4);
  EXPECT_DOUBLE_EQ(progress.done_share(), 1.0) << "of no tasks";
  progress.expect_tasks(3);
  progress.expect_tasks(2);
  for (int task = 0; task < 5; ++task) progress.end_task();
  EXPECT_DOUBLE_EQ(progress.done_share(), 0.25);  // 5 of 4 x (3 + 2)
}

TEST(RunProgress, SkippedIterationsNeedNoTasks) {
  RunProgress progress(1, 10);
  progress.expect_tasks(4);
  progress.skip(5);
  EXPECT_EQ(progress.iterations(), 5);
  EXPECT_EQ(progress.skipped(), 5);
  for (int task = 0; task < 10; ++task) progress.end_task();
  EXPECT_DOUBLE_EQ(progress.done_share(), 0.5);  // of 5 x 4
}

TEST(RunProgress, AnIterationEndsWithItsLastClass) {
  RunProgress progress(2, 1);
  progress.end_iteration(0, TimePoint(7_us));
  progress.end_iteration(0, TimePoint(5_us));
  progress.end_class(ClassId(0), TimePoint(7_us));
  EXPECT_FALSE(progress.all_ended());
  progress.end_class(ClassId(1), TimePoint(5_us));
  EXPECT_TRUE(progress.all_ended());
  RunRecord record;
  progress.move_into(record);
  EXPECT_EQ(record.iteration_end, std::vector{TimePoint(7_us)});
  EXPECT_EQ(record.finished_at, (std::vector{TimePoint(7_us), TimePoint(5_us)}));
}

}  // namespace
}  // namespace ringwright::run_progress_test
