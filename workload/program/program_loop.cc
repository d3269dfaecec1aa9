#include "workload/program/program_loop.h"

#include <span>

namespace ringwright::workload {
namespace {

std::span<const std::uint32_t> dependencies_of(const Program& program, const Task& task) {
  return std::span(program.dependencies).subspan(task.first_dependency, task.dependency_count);
}

// Whether the second task repeats the first one, at that distance.
bool does_the_same(const Program& program, std::uint32_t before, std::uint32_t distance) {
  const Task& a = program.tasks[before];
  const Task& b = program.tasks[before + distance];
  const bool identical = a.kind == b.kind && a.stream == b.stream && a.dimension == b.dimension && a.detail == b.detail;
  if (!identical || a.dependency_count != b.dependency_count) return false;
  for (std::uint32_t d = 0; d < a.dependency_count; ++d) {
    const std::uint32_t after = dependencies_of(program, b)[d];
    if (dependencies_of(program, a)[d] + distance != after) return false;
  }
  return true;
}

bool repeats(const Program& program, std::uint32_t first, std::uint32_t size) {
  for (std::uint32_t task = first; task < first + size; ++task) {
    if (!does_the_same(program, task, size)) return false;
  }
  return true;
}

bool is_left_through_last_cycle(const Program& program, const Loop& loop) {
  for (std::uint32_t task = loop.end(); task < program.tasks.size(); ++task) {
    for (const std::uint32_t before : dependencies_of(program, program.tasks[task])) {
      if (before >= loop.first && before + loop.size < loop.end()) return false;
    }
  }
  return true;
}

}  // namespace

Loop find_loop(const Program& program, const std::vector<std::uint32_t>& cycles) {
  Loop longest;
  Loop run;
  for (std::size_t i = 0; i + 1 < cycles.size(); ++i) {
    const std::uint32_t size = cycles[i + 1] - cycles[i];
    const bool goes_on = size == run.size && cycles[i] == run.end() && repeats(program, cycles[i] - size, size);
    if (!goes_on) run = {.first = cycles[i], .size = size, .cycles = 0};
    ++run.cycles;
    if (run.cycles > longest.cycles) longest = run;
  }
  return is_left_through_last_cycle(program, longest) ? longest : Loop{};
}

}  // namespace ringwright::workload
