// One run of the executor: streams, dependencies and iterations of all classes, and detection of repeats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/run/collectives/background_traffic.h"
#include "core/run/collectives/message_player.h"
#include "core/run/contention/contended_compute.h"
#include "core/run/contention/paced_network.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/job/call_times.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/copy_block_clocks.h"
#include "core/run/job/host_clock.h"
#include "core/run/job/played_job.h"
#include "core/run/shortcuts/steady_state_watch.h"
#include "core/run/shortcuts/step_period.h"
#include "core/run/step/executor.h"
#include "core/run/step/played_programs.h"
#include "core/run/step/progress.h"
#include "core/run/step/segment_player.h"

namespace ringwright {

class StepPlayer final : public CommunicationListener, public ComputeListener {
 public:
  StepPlayer(const ExecutorInputs& inputs, const ExecutorOptions& options);
  RunResult run();
  void on_communication_ended(ClassId rank_class, std::uint32_t task) override {
    if (contended_) contended_->release(rank_class, task);
    calls_.end(rank_class, task, inputs_.engine.now());
    end_task(rank_class, task);
  }
  void on_late_receive(ClassId rank_class, std::uint32_t task, TimePoint issued) override;
  void on_computed(ClassId rank_class, std::uint32_t task) override;

 private:
  struct Ended {
    ClassId rank_class;
    std::uint32_t task;
  };

  [[nodiscard]] const Program& program_of(ClassId c) const {
    return plan_.programs[inputs_.graph.program_of[job_.rank_of(c).index()].index()];
  }
  [[nodiscard]] const ProgramIndex& index_of(ClassId c) const {
    return plan_.indices[inputs_.graph.program_of[job_.rank_of(c).index()].index()];
  }
  void begin_iteration(ClassId c);
  void try_start(ClassId c, std::uint32_t task);
  void start(ClassId c, std::uint32_t task);
  void start_late(ClassId c, std::uint32_t task, Duration late);
  void begin_task(ClassId c, std::uint32_t task);
  void start_communication(ClassId c, std::uint32_t task, Duration late = {});
  void hold_gpu(ClassId c, std::uint32_t task);
  void start_compute(ClassId c, std::uint32_t task);
  void start_segment(ClassId c, std::uint32_t task);
  [[nodiscard]] Duration compute_time(ClassId c, std::uint32_t task) const;
  void end_task(ClassId c, std::uint32_t task);
  void settle(const Ended& ended);
  void end_iteration(ClassId c);
  void look_for_period();
  [[nodiscard]] std::uint64_t communication_digest() const {
    return mix(collectives_->state_digest(), messages_.state_digest());
  }
  [[nodiscard]] std::uint64_t state_digest(int iteration, std::uint64_t of_network);
  void note_cycle(ClassId c, std::uint32_t task);
  void look_for_cycle();
  // The positions of all classes in their loops; empty when one is not in its loop, or is at its end.
  [[nodiscard]] std::vector<SteadyStateWatch::Position> find_places();
  [[nodiscard]] std::uint64_t cycle_digest(std::uint64_t of_network);
  [[nodiscard]] StepSnapshot snapshot(int iteration, std::uint64_t digest);
  // Not where something changes with time outside the cycles, nor where the tasks of each cycle are recorded.
  [[nodiscard]] bool may_leave_out_cycles() const {
    return !contended_ && inputs_.graph.background.empty() && options_.recorded.empty();
  }
  void end_cycles(ClassId c);
  [[nodiscard]] double done_share() const {
    return tasks_total_ == 0 ? 1.0 : static_cast<double>(tasks_done_) / static_cast<double>(tasks_total_);
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const {
    return segments_ ? segments_->with_usage(inputs_.network.usage()) : inputs_.network.usage();
  }
  [[nodiscard]] std::vector<CallTime> calls() const;
  void note_span(ClassId c, std::uint32_t task);

  // How thread blocks pace the network where kernels slow them.
  struct Pacing {
    explicit Pacing(const ExecutorInputs& inputs)
        : clocks(inputs.engine, inputs.classes.count()), network(inputs.network, inputs.classes, clocks) {}
    CopyBlockClocks clocks;
    PacedNetwork network;
  };

  ExecutorInputs inputs_;
  ExecutorOptions options_;
  std::unique_ptr<Pacing> pacing_;  // null: kernels and communication do not slow each other
  PlayedPrograms plan_;
  HostClock host_;
  ActivityLedger ledger_;
  PlayedJob job_;
  std::optional<ContendedCompute> contended_;
  std::unique_ptr<CollectiveRunner> collectives_;
  MessagePlayer messages_;
  CallTimes calls_;
  std::optional<SegmentPlayer> segments_;
  BackgroundTraffic background_;
  std::vector<Progress> progress_;  // by class
  std::vector<Ended> ended_;        // tasks that ended and whose dependents are not started yet
  bool settling_ = false;
  int iterations_ = 1;  // to simulate; fewer than requested once they are known to repeat
  StepPeriod period_;
  SteadyStateWatch cycles_;
  std::optional<StepSnapshot> cycle_begin_;
  LeftOutCycles left_out_;
  std::uint32_t next_cycle_ = 0;  // of class 0: the task that begins it
  bool unproven_ = false;       // cycles were left out that may not be
  int skipped_ = 0;
  std::size_t finished_classes_ = 0;
  std::uint64_t tasks_done_ = 0;
  std::uint64_t tasks_total_ = 0;
  std::vector<bool> recorded_;                      // by class
  std::vector<std::vector<TimePoint>> started_at_;  // by class, by task; of recorded classes
  RunRecord record_;
};

}  // namespace ringwright
