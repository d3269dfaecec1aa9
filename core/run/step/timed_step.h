// A training step in which every call and every message takes a known time, whatever else happens: evaluated class by
// class in the order of its program, as a longest path through the graph of tasks, without a queue of events.
//
// A task begins when its dependencies and the task before it on its stream have ended, and when the host has issued it;
// it ends a known time later, a receive when its message has arrived, a collective when its last member has joined and
// its time has passed. So a class goes through its program until a task depends on a message that has not been sent, or
// on a call that others have not joined; then others go on. Each task costs a few additions and maxima.
//
// The same sums in whole picoseconds as in a run of events, and the same results. Where the order of events within one
// moment would matter, or the order of the program is not that of time, nothing is returned: a host that waits for
// messages issues tasks at times that depend on what has happened so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/run/job/activity_log.h"
#include "core/run/job/host_clock.h"
#include "core/run/job/job_groups.h"
#include "core/run/shortcuts/segment_times.h"
#include "core/run/step/executor.h"
#include "core/run/step/played_programs.h"
#include "core/run/step/timed_calls.h"
#include "core/run/step/timed_messages.h"

namespace ringwright {

class TimedStep {
 public:
  // Whether it may be tried: nothing is shared, nothing changes with time, and only times are asked for.
  [[nodiscard]] static bool covers(const ExecutorInputs& inputs, const ExecutorOptions& options);
  TimedStep(const ExecutorInputs& inputs, const ExecutorOptions& options);

  // Without calls and the usage of links. Empty: it has to be run event by event.
  [[nodiscard]] std::optional<RunResult> evaluate();

 private:
  struct Receive {
    std::uint32_t channel = 0;
    std::uint32_t number = 0;
    TimePoint earliest;
  };
  // The position of a class in its program.
  struct Progress {
    const Program* program = nullptr;
    TimePoint began;  // of the iteration
    TimePoint last_end;
    int iteration = 0;
    std::uint32_t next = 0;
    std::uint32_t open_calls = 0;
    std::optional<std::uint32_t> awaited;  // the channel of the message that it waits for
    bool waits_in_ready = false;
    // By task: picoseconds; kOpen; or below that, the receive that is pending, as kOpen - 1 - number.
    std::vector<std::int64_t> ends;
    std::vector<std::uint32_t> last_on_stream;
    std::vector<std::uint32_t> undisturbed;  // by segment: its calls whose host was not late
    std::vector<Receive> receives;
    std::size_t open_receives = 0;  // the first of them that may be pending
    // When the host last moved because it had waited, and for which task.
    TimePoint host_moved_at;
    std::uint32_t host_moved_by = kNoTask;
    bool host_moved_at_once = false;  // also at the beginning of the iteration
    // Tasks on other streams than the compute stream that could begin after what has been computed so far.
    std::vector<std::pair<std::uint32_t, TimePoint>> on_other_streams;
  };
  static constexpr std::int64_t kOpen = -1;
  // What the result is made of.
  struct Totals {
    std::size_t ended = 0;               // classes
    std::vector<TimePoint> counts_from;  // by class: the end of its warm-up
    std::vector<TimePoint> iteration_end;
    std::vector<std::vector<Bytes>> sent;  // as in RunRecord
    std::vector<std::uint64_t> started;    // by class: transfers
  };

  void begin_iteration(ClassId c);
  void wake(ClassId c);
  void advance(ClassId c);
  [[nodiscard]] bool end_iteration(ClassId c);
  // kNotKnown: not yet; then the own knows what it waits for.
  static constexpr TimePoint kNotKnown = TimedMessages::kNotSent;
  [[nodiscard]] TimePoint end_of(Progress& own, std::uint32_t task) const {
    const std::int64_t end = own.ends[task];
    return end >= 0 ? TimePoint(Duration(end)) : end_of_pending(own, task);
  }
  [[nodiscard]] TimePoint end_of_pending(Progress& own, std::uint32_t task) const;
  [[nodiscard]] TimePoint ready(Progress& own, const Task& entry) const;
  // False: the class has to wait for others.
  [[nodiscard]] bool pass(ClassId c, Progress& own, std::uint32_t task);
  [[nodiscard]] bool pass_receive(ClassId c, std::uint32_t task, TimePoint at);
  void pass_send(ClassId c, std::uint32_t task, TimePoint at);
  void pass_collective(ClassId c, std::uint32_t task, TimePoint at);
  void pass_segment(ClassId c, std::uint32_t task, TimePoint at);
  void pass_late_segment(ClassId c, std::uint32_t task, TimePoint at, Duration behind);
  [[nodiscard]] TimePoint resumed(ClassId c, std::uint32_t task, TimePoint at);
  [[nodiscard]] TimePoint issued(ClassId c, std::uint32_t task, TimePoint at, Duration computing) {
    return host_.counts() ? issued_by_host(c, task, at, computing) : at;
  }
  [[nodiscard]] TimePoint issued_by_host(ClassId c, std::uint32_t task, TimePoint at, Duration computing);
  [[nodiscard]] bool sees_host(const Progress& own, std::uint32_t task, TimePoint at) const;
  void note_host(Progress& own, std::uint32_t task, TimePoint at);
  void end_task(Progress& own, std::uint32_t task, TimePoint at);
  [[nodiscard]] Duration compute_time(ClassId c, const Task& task) const;
  void count_sent();
  [[nodiscard]] std::optional<RunResult> take_result();

  const ExecutorInputs& inputs_;
  const ExecutorOptions& options_;
  PlayedPrograms plan_;
  HostClock host_;
  std::optional<SegmentTimes> segments_;
  TimedMessages messages_;
  TimedCalls calls_;
  ActivityLog log_;
  std::vector<Progress> progress_;  // by class
  std::vector<ClassId> ready_;
  Totals totals_;
  bool unknown_ = false;
};

}  // namespace ringwright
