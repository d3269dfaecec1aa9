#include "core/plan/longer_loop.h"

#include <utility>

namespace ringwright {
namespace {

class LongerProgram {
 public:
  explicit LongerProgram(const Program& program) : program_(program) {
    result_.name = program.name;
    result_.stream_count = program.stream_count;
    result_.loop = program.loop;
    result_.job = program.job;
  }

  // The task, whose dependencies from `since` on are so many tasks later.
  void add(std::uint32_t number, std::uint32_t since, std::uint32_t later) {
    Task task = program_.tasks[number];
    const std::uint32_t first = task.first_dependency;
    task.first_dependency = static_cast<std::uint32_t>(result_.dependencies.size());
    for (std::uint32_t d = first; d < first + task.dependency_count; ++d) {
      const std::uint32_t before = program_.dependencies[d];
      result_.dependencies.push_back(before < since ? before : before + later);
    }
    result_.tasks.push_back(task);
  }
  [[nodiscard]] Program take(std::uint32_t cycles) {
    result_.loop.cycles += cycles;
    return std::move(result_);
  }

 private:
  const Program& program_;
  Program result_;
};

}  // namespace

Program with_more_cycles(const Program& program, std::uint32_t cycles) {
  const Loop& loop = program.loop;
  LongerProgram longer(program);
  for (std::uint32_t task = 0; task < loop.end(); ++task) longer.add(task, 0, 0);
  for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
    for (std::uint32_t task = loop.end() - loop.size; task < loop.end(); ++task) {
      longer.add(task, 0, cycle * loop.size);
    }
  }
  for (std::uint32_t task = loop.end(); task < program.tasks.size(); ++task) {
    longer.add(task, loop.first, cycles * loop.size);
  }
  return longer.take(cycles);
}

}  // namespace ringwright
