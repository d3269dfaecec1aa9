// Local SGD and DiLoCo: workers train on their own, and meet every so many steps.
#pragma once

#include <cstdint>

#include "core/config/config_map.h"
#include "core/plan/kernel.h"

namespace ringwright::workload {

// Average: the workers' parameters are averaged (Stich, arXiv 1805.09767). Nesterov: the mean of what the workers'
// steps changed is the gradient of an outer optimizer with momentum (DiLoCo, arXiv 2311.08105).
enum class OuterOptimizer { kAverage, kNesterov };

struct LocalSgd {
  std::int64_t every = 0;  // steps between two exchanges of a parameter; 0: all replicas sum gradients in every step
  int workers = 1;         // groups of data-parallel replicas that sum gradients among themselves only
  OuterOptimizer outer = OuterOptimizer::kNesterov;
  DataType exchanged = DataType::kFp32;
  int fragments = 1;        // of the parameters, exchanged one after another (Streaming DiLoCo, arXiv 2501.18512)
  bool overlapped = false;  // an exchange runs during the next step, at whose end it takes effect
  bool meets = false;       // whether the step in hand is one with an exchange

  [[nodiscard]] bool on() const { return every > 0; }
  // Of so many parameters of a rank, those of the largest fragment.
  [[nodiscard]] std::int64_t fragment_of(std::int64_t elements) const { return (elements + fragments - 1) / fragments; }
  // Bytes of outer weights and momentum for each parameter, in fp32.
  [[nodiscard]] double state() const { return outer == OuterOptimizer::kNesterov ? 8.0 : 0.0; }

  friend bool operator==(const LocalSgd&, const LocalSgd&) = default;
};

struct ParallelContext;
struct ParallelOptions;

// Reads `training.local_sgd`. Mistakes are recorded in the map.
[[nodiscard]] LocalSgd read_local_sgd(ConfigMap& training);
// Gives the layout its workers, once dp is known; an error where they do not divide it.
void read_workers(const ParallelContext& context, ParallelOptions& options);
// An error where replicas meet in another way than over their gradients.
void check_local_sgd(const ParallelContext& context, const ParallelOptions& options);

}  // namespace ringwright::workload
