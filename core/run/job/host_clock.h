// The host of each class of ranks: it issues the rank's tasks in program order, each with its own issue time, and runs
// ahead of the device until it has to wait for it.
//
// A task cannot begin its communication, and cannot end its computing, before the host has issued it. So a host that is
// faster than its device costs nothing, a slower one sets the pace, and after each wait the device waits for the host
// in turn.
//
// A host that waits for messages of a pipeline then synchronises with its device: tasks after a message are issued
// afterwards, and begin when the host has gone from the wait to its first kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"

namespace ringwright {

// The host's time to issue a collective or message: as an operator of the framework, or, where the sender stores parts
// of an operand while others are computed, as a turn of the loop of the operator that does both.
[[nodiscard]] Duration call_issue_time(const ComputeModel& compute, const TaskGraph& graph, const Task& task);

class HostClock {
 public:
  struct Inputs {
    const TaskGraph& graph;
    const std::vector<Program>& programs;  // those of the graph as simulated
    const RankClasses& classes;
    const ComputeModel& compute;
    bool awaits_receives = false;
  };
  explicit HostClock(const Inputs& inputs);
  // The same job with other tasks behind those that have begun.
  void replace_programs(const Inputs& inputs);

  // The host begins an iteration of the class's program.
  void begin(ClassId c, TimePoint now) {
    rows_[c.index()].began = now;
    rows_[c.index()].first_began = now;
  }
  // When the host has issued the task.
  [[nodiscard]] TimePoint issued(ClassId c, std::uint32_t task) const {
    const Row& row = rows_[c.index()];
    return row.began + issue_ends_[row.program][task];
  }
  // When it begins to issue it.
  [[nodiscard]] TimePoint issuing(ClassId c, std::uint32_t task) const {
    return task == 0 ? rows_[c.index()].began : issued(c, task - 1);
  }
  // The same for a host that has not waited for anything since it began.
  [[nodiscard]] TimePoint issuing_unhindered(ClassId c, std::uint32_t task) const {
    return issuing(c, task) - (rows_[c.index()].began - rows_[c.index()].first_began);
  }
  // When such a host has issued it.
  [[nodiscard]] TimePoint issued_unhindered(ClassId c, std::uint32_t task) const {
    const Row& row = rows_[c.index()];
    return row.first_began + issue_ends_[row.program][task];
  }
  // When it began the iteration.
  [[nodiscard]] TimePoint began(ClassId c) const { return rows_[c.index()].first_began; }
  // A receive has ended: a host that waits for it issues the next task now. True: it had waited.
  bool ended(ClassId c, std::uint32_t task, TimePoint now);
  // The time the device waits for the host before the task, for which everything else is ready now.
  [[nodiscard]] Duration take_pause(ClassId c, std::uint32_t task, TimePoint now);
  // Whether there are such pauses, anywhere.
  [[nodiscard]] bool pauses() const { return resume_ > Duration(0) && !resumes_.empty(); }
  // Whether issuing takes any time at all.
  [[nodiscard]] bool counts() const { return counts_; }
  [[nodiscard]] std::uint64_t digest(TimePoint now) const;

  // A task of the class had to wait for its host, or an arrived message for its receive to be issued.
  void note_late(ClassId c, TimePoint now) { rows_[c.index()].late_at = now; }
  void note_late_receive(ClassId c, TimePoint now) { rows_[c.index()].receive_late_at = now; }
  // When that last happened; before the run: never.
  [[nodiscard]] TimePoint late_at(ClassId c) const { return rows_[c.index()].late_at; }
  [[nodiscard]] TimePoint receive_late_at(ClassId c) const { return rows_[c.index()].receive_late_at; }

 private:
  static constexpr TimePoint kNever{Duration(-1)};
  struct Row {
    TimePoint began;  // waits move it
    TimePoint first_began;
    TimePoint late_at = kNever;
    TimePoint receive_late_at = kNever;
    std::size_t program = 0;
  };

  std::vector<std::vector<Duration>> issue_ends_;  // by program, by task: since the host began, without waits
  std::vector<Row> rows_;                          // by class
  std::vector<std::vector<bool>> receives_;  // by program, by task: what the host waits for; empty where it never does
  std::vector<std::vector<bool>> resumes_;   // by program, by task: computing that follows a message of the pipeline
  Duration resume_;
  bool counts_ = false;
};

}  // namespace ringwright
