// What the tasks of every class waited for, in their last iteration: the dependencies of a step's critical path.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/record/run_record.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class WaitRecorder {
 public:
  explicit WaitRecorder(const PlayedJob& job)
      : roster_(job),
        waits_(job.classes.count()),
        iteration_(job.classes.count(), -1),
        host_waited_for_(job.classes.count(), kNoTask) {}

  void begin_iteration(ClassId c, std::size_t tasks) {
    waits_[c.index()].assign(tasks, {});
    ++iteration_[c.index()];
    host_waited_for_[c.index()] = kNoTask;
  }
  // Nothing precedes the task any more since `after` has ended; kNoTask: since the iteration began.
  void release(ClassId c, std::uint32_t task, std::uint32_t after) {
    of(c, task).after = after;
    of(c, task).by = after == kNoTask ? ReleasedBy::kIteration : ReleasedBy::kTask;
  }
  // The task waits until its host has issued it.
  void await_host(ClassId c, std::uint32_t task) {
    of(c, task).after = host_waited_for_[c.index()];
    of(c, task).by = ReleasedBy::kHost;
  }
  // The host waited until the task ended, and goes on from there.
  void note_host(ClassId c, std::uint32_t task) { host_waited_for_[c.index()] = task; }

  void begin(ClassId c, std::uint32_t task, TimePoint now) {
    TaskWait& wait = of(c, task);
    wait.start = wait.origin_start = now;
    wait.origin = c;
    wait.origin_task = task;
  }
  // A collective of this number in the dimension: the class calls it; it ends for the class.
  struct CallId {
    DimensionId dimension;
    std::uint64_t number = 0;
  };
  void join(ClassId c, std::uint32_t task, const CallId& call);
  void leave(ClassId c, std::uint32_t task, const CallId& call);
  // A receive ends with a message. One that was sent in an iteration that the sender has ended: before the class's last
  // step began, where the path ends anyway.
  void deliver(ClassId c, const CommunicationListener::Delivery& message);
  void end(ClassId c, std::uint32_t task, TimePoint now) { of(c, task).end = now; }

  [[nodiscard]] std::vector<std::vector<TaskWait>> take() { return std::move(waits_); }

 private:
  struct Key {
    ClassId first;  // of the classes in the group
    DimensionId dimension;
    std::uint64_t number = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Call {
    ClassId last_class;  // that joined, with this task and then
    std::uint32_t last_task = kNoTask;
    TimePoint joined;
    std::size_t left = 0;  // classes that have not ended it
  };

  [[nodiscard]] TaskWait& of(ClassId c, std::uint32_t task) { return waits_[c.index()][task]; }
  [[nodiscard]] Key key_of(ClassId c, const CallId& call) {
    return {roster_.classes_of_group(c, call.dimension).front(), call.dimension, call.number};
  }

  GroupRoster roster_;
  std::vector<std::vector<TaskWait>> waits_;    // by class, by task
  std::vector<int> iteration_;                  // by class
  std::vector<std::uint32_t> host_waited_for_;  // by class: task
  std::map<Key, Call> calls_;                   // in flight
};

}  // namespace ringwright
