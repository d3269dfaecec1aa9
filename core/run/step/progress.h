// The progress of one class of ranks in its program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/inline_vector.h"
#include "core/base/units.h"

namespace ringwright {

enum class TaskState : std::uint8_t { kWaiting, kRunning, kDone };

struct TaskProgress {
  std::uint16_t pending = 0;  // unfinished dependencies
  TaskState state = TaskState::kWaiting;
};
struct StreamProgress {
  std::uint32_t next : 31 = 0;  // position in the stream's order
  std::uint32_t busy : 1 = 0;
};
struct TimedTask {
  std::uint32_t task = 0;
  TimePoint at;
};

// Two lines of the cache for each of thousands of classes: every end of a task reads them.
struct alignas(64) Progress {
  std::vector<TaskProgress> tasks;
  std::uint32_t unfinished = 0;
  std::uint32_t first_open = 0;  // all tasks before it are done
  std::uint32_t farthest = 0;    // no task after it was touched, except receives whose message has not arrived
  int iteration = 0;
  std::vector<TimedTask> delayed;          // tasks whose host is late, and when they begin
  InlineVector<TimedTask, 1> computing;    // running compute tasks, and when they end
  InlineVector<StreamProgress, 8> streams;

  void computed(std::uint32_t task) {
    computing.erase_if([task](const TimedTask& running) { return running.task == task; });
  }
  void delay(std::uint32_t task, TimePoint until) { delayed.push_back({.task = task, .at = until}); }
  void begun(std::uint32_t task) {
    std::erase_if(delayed, [task](const TimedTask& late) { return late.task == task; });
  }
  void touched(std::uint32_t task) { farthest = std::max(farthest, task); }
  void done(std::uint32_t task) {
    tasks[task].state = TaskState::kDone;
    if (!delayed.empty()) begun(task);
    touched(task);
    if (task != first_open) return;  // still open: another line of the cache that need not be read
    while (first_open < tasks.size() && tasks[first_open].state == TaskState::kDone) ++first_open;
  }
};

// A hash of which streams are busy, and of what computes or is delayed until when: times relative to `now`, tasks to
// `reference`.
[[nodiscard]] std::uint64_t digest_running(const Progress& progress, TimePoint now, std::uint32_t reference);

// A hash of it within a loop: of all tasks between those that are done and those that are untouched, by their distance
// from the cycle's first task; these determine the positions of the streams.
struct CycleReference {
  TimePoint now;
  std::uint32_t task = 0;
};
[[nodiscard]] std::uint64_t digest_cycle(const Progress& progress, const CycleReference& reference);

// A hash of all of it, with times relative to `now` and iterations relative to `iteration`.
[[nodiscard]] std::uint64_t digest(const Progress& progress, TimePoint now, int iteration);

}  // namespace ringwright
