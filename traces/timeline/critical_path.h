// The critical path of the last step of a run, over all simulated ranks, from what its tasks waited for.
//
// It is followed backwards from the task that ends last. Before a task of a rank comes the task that released it: the
// last one to end of those that its stream or its dependencies put before it, or the one that its host had waited for
// before it issued the task late. A message is bounded by its sender, a collective by the member that joined last; the
// path goes on with that rank, from the start of its call. Ranks that folding found equal have one path.
#pragma once

#include <cstdint>
#include <vector>

#include "core/report/critical_path.h"
#include "traces/timeline/step_dependencies.h"

namespace ringwright::traces {

// kHost: the task is ready, and its host has not issued it. kOther: nothing recorded explains the time.
enum class PathKind : std::uint8_t { kCompute, kCollective, kMessage, kHost, kOther };

struct PathPart {
  ClassId rank_class;  // where the part ends
  ClassId from;        // of a communication that another rank bounds: that one; else the same
  PathKind kind = PathKind::kOther;
  std::uint32_t task = kNoTask;  // of the class; kNoTask of kHost and kOther
  TimePoint start;
  TimePoint end;
};

// In the order of time, without gaps from the start of the step to its end. Empty where it has no tasks.
[[nodiscard]] std::vector<PathPart> path_parts(const StepDependencies& step);

// How many tasks are recorded for it; more than this are refused: 1 GB.
inline constexpr std::uint64_t kMostPathTasks = 25'000'000;
[[nodiscard]] std::uint64_t count_path_tasks(const TaskGraph& graph, const RankClasses& classes);

// The path in words, with what each role waits for.
[[nodiscard]] CriticalPath critical_path(const StepDependencies& step);

}  // namespace ringwright::traces
