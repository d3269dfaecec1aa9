// The parts of a run whose state decides its future: that state as one hash, and the totals so far.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "core/run/contention/gpu_contention.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/job/host_clock.h"
#include "core/run/shortcuts/steady_state_watch.h"
#include "core/run/shortcuts/step_period.h"
#include "core/run/step/executor.h"
#include "core/run/step/played_programs.h"
#include "core/run/step/segment_player.h"
#include "core/run/step/step_communication.h"
#include "core/run/step/task_streams.h"

namespace ringwright {

struct RunState {
  // The listeners hear of everything that ends.
  RunState(const ExecutorInputs& inputs, const ExecutorOptions& options, CommunicationListener& of_communication,
           ComputeListener& of_computing);
  RunState(const RunState&) = delete;  // its parts refer to each other
  RunState& operator=(const RunState&) = delete;

  Engine& engine;
  NetworkModel& network;
  PlayedPrograms plan;
  TaskStreams streams;
  HostClock host;
  ActivityLedger ledger;
  std::unique_ptr<GpuContention> contention;  // null: kernels and communication do not slow each other
  StepCommunication communication;
  std::unique_ptr<SegmentPlayer> segments;  // null: segments are simulated task by task

  // Whether equal digests mean equal futures.
  [[nodiscard]] bool is_comparable() const;
  // Relative to the iteration and to now. `of_network`: the hash of the network model.
  [[nodiscard]] std::uint64_t digest(int iteration, std::uint64_t of_network) const;
  // Relative to the cycles' first tasks (PlayedJob::reference_task), without the positions of hosts.
  [[nodiscard]] std::uint64_t cycle_digest(std::uint64_t of_network) const;
  // The positions of all classes in their loops, whose first tasks become the reference; empty when one is not in its
  // loop, or is at its end.
  [[nodiscard]] std::vector<SteadyStateWatch::Position> find_places();
  // Whether a class has come to the end of its loop in the iteration of class 0: it has no places from then on.
  [[nodiscard]] bool is_past_loops() const;

  // With the time of every class booked up to now; without calls.
  [[nodiscard]] StepSnapshot snapshot(int iteration, std::uint64_t digest);
  [[nodiscard]] std::vector<CallTime> calls() const;
  [[nodiscard]] std::vector<LinkUsage> usage() const {
    std::vector<LinkUsage> usage = network.usage();
    communication.collectives().add_usage(usage);
    return segments != nullptr ? segments->with_usage(std::move(usage)) : usage;
  }
};

}  // namespace ringwright
