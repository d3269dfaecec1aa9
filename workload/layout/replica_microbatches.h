// Microbatches shared unevenly over data-parallel replicas, as on GPUs of different speed (Whale, ATC 2022; HetPipe,
// ATC 2020): all replicas end a step together, since the gradients' sum waits for the last one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// `parallel.microbatch_split` and `parallel.microbatches_per_replica`.
void read_microbatch_split(ConfigMap& parallel, ParallelOptions& options);

// Checks an uneven split against batch and layout, and fills options.replica_microbatches: those given, or as equal as
// the batch allows until speeds are known (balance_microbatches). False: a mistake was recorded.
[[nodiscard]] bool check_microbatch_split(ConfigMap& parallel, const ParallelContext& context,
                                          ParallelOptions& options);

// The time of a pipeline of one replica over m microbatches is fill + m x slowest: the sum of its stages' times of a
// microbatch without the slowest one, and that one (Alpa, OSDI 2022, equation 2).
struct ReplicaTime {
  double fill = 0.0;     // seconds
  double slowest = 0.0;  // seconds, above 0

  [[nodiscard]] double of(std::int64_t microbatches) const {
    return fill + slowest * static_cast<double>(microbatches);
  }
};

// Whole microbatches, one or more for each replica, such that the last replica ends as early as possible. There are at
// least as many microbatches as replicas.
[[nodiscard]] std::vector<std::int64_t> share_by_speed(std::span<const ReplicaTime> replicas,
                                                       std::int64_t microbatches);

// With microbatch_split: balanced, fills options.replica_microbatches and reports the split; else does nothing.
void balance_microbatches(ConfigMap& parallel, std::span<const ReplicaTime> replicas, const TrainingOptions& training,
                          ParallelOptions& options);

}  // namespace ringwright::workload
