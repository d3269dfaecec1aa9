#include "configs/simulation/critical_path.h"

#include <algorithm>

#include <fmt/format.h>

#include "traces/timeline/critical_path.h"

namespace ringwright::configs {
namespace {

std::uint64_t task_count(const Simulation& simulation) {
  return traces::count_path_tasks(simulation.plan().graph, simulation.folding().ranks);
}

std::string size_text(const Simulation& simulation) {
  return fmt::format("the critical path would be found among {} tasks of {} simulated ranks; at most {} are recorded",
                     task_count(simulation), simulation.folding().ranks.count(), traces::kMostPathTasks);
}

bool is_wanted(const Simulation& simulation, PathWish wish) {
  return wish != PathWish::kNone && simulation.plan().graph.jobs.empty();
}

}  // namespace

bool records_path(const Simulation& simulation, PathWish wish) {
  return is_wanted(simulation, wish) && task_count(simulation) <= traces::kMostPathTasks;
}

Diagnostics check_path(const Simulation& simulation, PathWish wish) {
  Diagnostics found;
  if (wish == PathWish::kAlways && !records_path(simulation, wish)) {
    found.add({.code = "E268",
               .message = size_text(simulation),
               .hint = "leave out --no-fold, or take fewer GPUs or microbatches"});
  }
  return found;
}

void note_no_path(const Simulation& simulation, PathWish wish, StepFacts& facts) {
  if (!is_wanted(simulation, wish) || records_path(simulation, wish)) return;
  facts.warnings.push_back({.code = "W269", .where = "", .text = size_text(simulation)});
}

std::optional<CriticalPath> recorded_path(const Simulation& simulation, const RunRecord& record) {
  if (record.waits.empty()) return std::nullopt;
  return traces::critical_path({record, simulation.plan().graph, simulation.folding().ranks});
}

void add_data_wait(const std::vector<TimePoint>& iteration_end, CriticalPath& path) {
  const TimePoint start = iteration_end.size() > 1 ? iteration_end[iteration_end.size() - 2] : TimePoint();
  const Duration step = iteration_end.back() - start;
  if (step <= path.time) return;
  path.kinds.push_back({.name = "data", .time = step - path.time, .tasks = 1});
  std::ranges::stable_sort(path.kinds, std::ranges::greater(), &CriticalPath::Kind::time);
  path.legs.push_back({.rank = RankId(0), .role = "all", .what = "wait for data", .start = path.time, .end = step});
  path.time = step;
}

}  // namespace ringwright::configs
