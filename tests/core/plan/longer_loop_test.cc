#include "core/plan/longer_loop.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::longer_loop_test {
namespace {

// A task before the loop; two cycles of two tasks, each after its predecessor in the cycle before; and two tasks behind
// it, after the last cycle and after the first task.
Program looped(std::uint32_t cycles) {
  Program program{.name = "stage", .stream_count = 2, .loop = {.first = 1, .size = 2, .cycles = cycles}};
  const auto add = [&program](std::uint32_t detail, std::vector<std::uint32_t> after) {
    program.tasks.push_back({.detail = detail,
                             .first_dependency = static_cast<std::uint32_t>(program.dependencies.size()),
                             .dependency_count = static_cast<std::uint32_t>(after.size())});
    program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
  };
  add(7, {});
  for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
    const std::uint32_t first = 1 + 2 * cycle;
    add(8, {first - 1});
    add(9, {first, first - 1});
  }
  const std::uint32_t end = 1 + 2 * cycles;
  add(10, {end - 1, 0});
  add(11, {end});
  return program;
}

TEST(LongerLoop, IsTheProgramWithMoreCycles) {
  for (const std::uint32_t further : {1U, 2U, 5U}) {
    const Program longer = with_more_cycles(looped(3), further);
    const Program expected = looped(3 + further);
    EXPECT_EQ(longer.loop, expected.loop);
    EXPECT_EQ(longer.dependencies, expected.dependencies);
    ASSERT_EQ(longer.tasks.size(), expected.tasks.size());
    for (std::size_t task = 0; task < expected.tasks.size(); ++task) {
      EXPECT_EQ(longer.tasks[task].detail, expected.tasks[task].detail) << task;
      EXPECT_EQ(longer.tasks[task].first_dependency, expected.tasks[task].first_dependency) << task;
      EXPECT_EQ(longer.tasks[task].dependency_count, expected.tasks[task].dependency_count) << task;
    }
  }
}

}  // namespace
}  // namespace ringwright::longer_loop_test
