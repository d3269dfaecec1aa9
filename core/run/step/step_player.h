// One run of the executor: the tasks of all classes, from what starts them to what they start at their end.
#pragma once

#include <cstdint>
#include <memory>

#include "core/run/contention/contended_compute.h"
#include "core/run/job/played_job.h"
#include "core/run/step/ended_tasks.h"
#include "core/run/step/executor.h"
#include "core/run/step/job_steps.h"
#include "core/run/step/repeats.h"
#include "core/run/step/run_progress.h"
#include "core/run/step/run_state.h"
#include "core/run/step/span_recorder.h"
#include "core/run/step/wait_recorder.h"

namespace ringwright {

class StepPlayer final : public CommunicationListener, public ComputeListener {
 public:
  StepPlayer(const ExecutorInputs& inputs, const ExecutorOptions& options);
  RunResult run();
  void on_communication_ended(ClassId rank_class, std::uint32_t task) override {
    run_.communication.end(rank_class, task);
    if (waits_ != nullptr) note_end_of_call(rank_class, task);
    end_task(rank_class, task);
  }
  void on_delivered(ClassId rank_class, const Delivery& delivery) override {
    if (waits_ != nullptr) waits_->deliver(rank_class, delivery);
  }
  void on_late_receive(ClassId rank_class, std::uint32_t task, TimePoint issued) override;
  void on_computed(ClassId rank_class, std::uint32_t task) override;

 private:
  void begin_all();
  void begin_iteration(ClassId c);
  void forget_warmup(ClassId c);
  // `after`: the task that has ended just now; kNoTask: the iteration begins.
  void try_start(ClassId c, std::uint32_t task, std::uint32_t after) {
    if (run_.streams.take(c, task)) begin_taken(c, task, after);
  }
  void begin_taken(ClassId c, std::uint32_t task, std::uint32_t after);
  void start(ClassId c, std::uint32_t task);
  [[nodiscard]] bool awaited_by_kernels(ClassId c, std::uint32_t task) const;
  void start_late(ClassId c, std::uint32_t task, Duration late);
  void begin_task(ClassId c, std::uint32_t task);
  void note_end_of_call(ClassId c, std::uint32_t task);
  void start_communication(ClassId c, std::uint32_t task, Duration late = {});
  void start_compute(ClassId c, std::uint32_t task);
  void start_segment(ClassId c, std::uint32_t task);
  void expect_end(const SegmentPlayer::Ending& ending);
  [[nodiscard]] Duration compute_time(ClassId c, std::uint32_t task) const;
  void end_task(ClassId c, std::uint32_t task) {
    ended_.end({.rank_class = c, .task = task}, [this](const EndedTasks::Ended& ended) { settle(ended); });
  }
  void settle(const EndedTasks::Ended& ended);
  void end_iteration(ClassId c);
  void end_step_of_job(ClassId c);
  [[nodiscard]] bool all_ended() const { return jobs_.on() ? jobs_.is_done() : progress_.all_ended(); }
  // Not where something changes with time outside the cycles, nor where the tasks of each cycle are recorded.
  [[nodiscard]] bool may_leave_out_cycles() const {
    return run_.is_comparable() && inputs_.graph.background.empty() && options_.recorded.empty() &&
           !options_.record_waits;
  }
  [[nodiscard]] RunEnd run_engine();
  [[nodiscard]] bool is_disturbed(RunEnd end) const;
  [[nodiscard]] RunRecord take_record();

  ExecutorInputs inputs_;
  ExecutorOptions options_;
  RunState run_;
  RunProgress progress_;
  Repeats repeats_;
  EndedTasks ended_;
  SpanRecorder spans_;
  std::unique_ptr<WaitRecorder> waits_;  // null: not asked for
  JobSteps jobs_;
  bool too_many_steps_ = false;
};

}  // namespace ringwright
