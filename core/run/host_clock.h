// The host of each class of ranks: it issues the rank's tasks in program order, each taking a time of its own, and runs
// ahead of the device until it has to wait for it.
//
// A task cannot begin its communication, and cannot end its computing, before the host has issued it. So a host that is
// quicker than its device costs nothing, one that is slower sets the pace, and after each wait the device waits for the
// host in turn.
//
// A host that waits for messages of a pipeline synchronises with its device then: what follows a message is issued
// afterwards, and begins when the host has come from the wait to its first kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"

namespace ringwright {

class HostClock {
 public:
  struct Inputs {
    const TaskGraph& graph;
    const std::vector<Program>& programs;  // those of the graph as they are played
    const RankClasses& classes;
    const ComputeModel& compute;
    bool awaits_receives = false;
  };
  explicit HostClock(const Inputs& inputs);

  // The host begins an iteration of the class's program.
  void begin(ClassId c, TimePoint now) { began_[c.index()] = now; }
  // When the host has issued the task.
  [[nodiscard]] TimePoint issued(ClassId c, std::uint32_t task) const {
    return began_[c.index()] + issue_ends_[program_of_[c.index()]][task];
  }
  // When it begins to issue it.
  [[nodiscard]] TimePoint issuing(ClassId c, std::uint32_t task) const {
    return task == 0 ? began_[c.index()] : issued(c, task - 1);
  }
  // A task has ended: a host that waits for it issues the next one from now on.
  void ended(ClassId c, std::uint32_t task, TimePoint now);
  // How long the device waits for the host before the task, for which all else is ready now.
  [[nodiscard]] Duration take_pause(ClassId c, std::uint32_t task, TimePoint now);
  // Whether issuing takes any time at all.
  [[nodiscard]] bool counts() const { return counts_; }
  [[nodiscard]] std::uint64_t digest(TimePoint now) const;

 private:
  std::vector<std::vector<Duration>> issue_ends_;  // by program, by task: since the host began, without waits
  std::vector<std::size_t> program_of_;            // by class
  std::vector<TimePoint> began_;                   // by class; waits move it
  std::vector<std::vector<bool>> receives_;  // by program, by task: what the host waits for; empty where it never does
  std::vector<std::vector<bool>> resumes_;   // by program, by task: computing that follows a message of the pipeline
  Duration resume_;
  bool counts_ = false;
};

}  // namespace ringwright
