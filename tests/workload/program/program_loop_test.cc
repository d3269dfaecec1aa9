#include "workload/program/program_loop.h"

#include <gtest/gtest.h>

namespace ringwright::workload::program_loop_test {
namespace {

// A task of the compute stream that depends on the task at a given distance before it, or on none.
void add(Program& program, std::uint32_t detail, std::uint32_t distance = 0) {
  Task task{.kind = TaskKind::kCompute, .detail = detail};
  task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
  if (distance > 0) program.dependencies.push_back(static_cast<std::uint32_t>(program.tasks.size()) - distance);
  task.dependency_count = distance > 0 ? 1 : 0;
  task.label = static_cast<std::uint32_t>(program.tasks.size());  // every task has its own detail
  program.tasks.push_back(task);
}

// One task, then cycles of two, then one that depends on the last.
Program rounds(int cycles) {
  Program program;
  add(program, 7);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    add(program, 1, 1);
    add(program, 2, 1);
  }
  add(program, 9, 1);
  return program;
}

TEST(ProgramLoop, IsFoundWhereCyclesDoTheSame) {
  EXPECT_EQ(find_loop(rounds(4), {1, 3, 5, 7, 9}), (Loop{.first = 1, .size = 2, .cycles = 4}));
}

TEST(ProgramLoop, LeavesOutCyclesThatDiffer) {
  Program program = rounds(6);
  program.tasks[3].detail = 5;  // in the second cycle
  EXPECT_EQ(find_loop(program, {1, 3, 5, 7, 9, 11, 13}), (Loop{.first = 5, .size = 2, .cycles = 4}));
  program.tasks[11].detail = 5;  // in the last one
  EXPECT_EQ(find_loop(program, {1, 3, 5, 7, 9, 11, 13}), (Loop{.first = 5, .size = 2, .cycles = 3}));
}

TEST(ProgramLoop, HasDependenciesAsFarBackInEveryCycle) {
  Program program = rounds(5);
  program.dependencies[program.tasks[7].first_dependency] = 5;  // the fourth cycle, one task farther back
  EXPECT_EQ(find_loop(program, {1, 3, 5, 7, 9, 11}), (Loop{.first = 1, .size = 2, .cycles = 3}));
}

// With more cycles in between, that would be another task.
TEST(ProgramLoop, IsNotLeftFromItsMiddle) {
  Program program = rounds(4);
  program.dependencies[program.tasks.back().first_dependency] = 4;
  EXPECT_EQ(find_loop(program, {1, 3, 5, 7, 9}), Loop{});
}

}  // namespace
}  // namespace ringwright::workload::program_loop_test
