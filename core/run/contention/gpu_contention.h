// What kernels and communication on one GPU take from each other: works of a rate, and a network paced by the thread
// blocks that move its data.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "core/plan/rank_classes.h"
#include "core/ports/communication_footprint.h"
#include "core/run/contention/contended_compute.h"
#include "core/run/contention/paced_network.h"
#include "core/run/job/copy_block_clocks.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class GpuContention {
 public:
  struct Inputs {
    Engine& engine;
    const TaskGraph& graph;
    const RankClasses& classes;
    NetworkModel& network;
    const ComputeModel& compute;
    const CommunicationFootprint& footprint;
    ComputeListener& listener;
  };
  explicit GpuContention(const Inputs& inputs);

  // The network as its thread blocks drive it.
  [[nodiscard]] NetworkModel& network() { return network_; }
  [[nodiscard]] CopyBlockClocks& clocks() { return clocks_; }
  [[nodiscard]] ContendedCompute& compute() { return compute_; }
  [[nodiscard]] const ContendedCompute& compute() const { return compute_; }
  // A hash of how far thread blocks lag.
  [[nodiscard]] std::uint64_t digest_of_copy_blocks() const { return network_.digest(); }
  // Of the class: what it computes and holds, and its thread blocks' clock.
  [[nodiscard]] std::uint64_t digest(ClassId c, const ContendedCompute::Scope& scope) const {
    return mix(compute_.digest(c, scope), clocks_.digest(c));
  }
  // Of communication, by its task.
  [[nodiscard]] ContendedCompute::Claim claim_of(const PlayedJob& job, ClassId c, std::uint32_t task,
                                                 const Task& entry) const;
  // From the launch of its kernel on, until it is released, communication occupies multiprocessors.
  void hold(const PlayedJob& job, ClassId c, std::uint32_t task, const Task& entry) {
    compute_.hold(c, claim_of(job, c, task, entry));
  }

 private:
  const CommunicationFootprint& footprint_;
  CopyBlockClocks clocks_;
  PacedNetwork network_;
  ContendedCompute compute_;
};

}  // namespace ringwright
