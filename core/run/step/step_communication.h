// Communication of a training step: the calls and messages that its tasks start, and the times of the calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/run/collectives/message_player.h"
#include "core/run/contention/gpu_contention.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/job/call_times.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"
#include "core/run/step/executor.h"
#include "core/run/step/task_streams.h"

namespace ringwright {

class StepCommunication {
 public:
  struct Parts {
    const ExecutorInputs& inputs;
    const TaskStreams& streams;
    ActivityLedger& ledger;
    GpuContention* contention;  // null: kernels and communication do not slow each other
    CommunicationListener& listener;
  };
  explicit StepCommunication(const Parts& parts);

  // Starts the task's call or message; the listener is notified when it has ended, perhaps before this returns. A
  // receive ends no earlier than `late` from now. True: its message is there already; the listener does not hear of it.
  [[nodiscard]] bool start(ClassId c, std::uint32_t task, Duration late);
  // Of the task in its sequence of calls or messages, over all iterations.
  [[nodiscard]] std::uint64_t number_of(ClassId c, std::uint32_t task) const;
  // The task has ended, as the listener was notified.
  void end(ClassId c, std::uint32_t task) {
    if (contention_ != nullptr) contention_->compute().release(c, task);
    calls_.end(c, task, job_.engine.now());
  }

  [[nodiscard]] PlayedJob& job() { return job_; }
  [[nodiscard]] const PlayedJob& job() const { return job_; }
  [[nodiscard]] const CollectiveRunner& collectives() const { return *collectives_; }
  // The job, with all that its calls have sent so far in its totals.
  [[nodiscard]] PlayedJob& booked_job() {
    collectives_->book_sent();
    return job_;
  }
  [[nodiscard]] MessagePlayer& messages() { return messages_; }
  [[nodiscard]] const MessagePlayer& messages() const { return messages_; }
  [[nodiscard]] CallTimes& calls() { return calls_; }
  [[nodiscard]] const CallTimes& calls() const { return calls_; }
  // A hash of what is in flight.
  [[nodiscard]] std::uint64_t digest() const { return mix(collectives_->state_digest(), messages_.state_digest()); }

 private:
  const TaskStreams& streams_;
  GpuContention* contention_;
  PlayedJob job_;
  std::unique_ptr<CollectiveRunner> collectives_;
  MessagePlayer messages_;
  CallTimes calls_;
};

}  // namespace ringwright
