// Errors of predicted training steps, source by source.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validation/fit/error_statistics.h"
#include "validation/training/cases.h"

namespace ringwright::validation {

struct SourceScore {
  std::string name;
  std::string title;
  std::size_t rows = 0;  // that are to be scored
  ErrorStatistics time;  // of the step
  ErrorStatistics memory;
  std::size_t too_large = 0;  // rows that ran, and are predicted not to fit into GPU memory
  std::optional<double> tau;                   // ranking inside sweeps, mean weighted by pairs
  std::size_t sweeps = 0;                      // of at least three runs of one model on one machine
  std::map<std::string, std::size_t> reasons;  // why rows could not be simulated, and how many
  double target = 0.0;                         // of time.mean_abs; 0: none
  double target_tau = 0.0;                     // of tau; 0: none
  double memory_target = 0.0;                  // of memory.mean_abs; 0: none
  std::optional<double> threshold;
  std::vector<std::string> causes;   // known causes of missed targets
  std::vector<std::string> remarks;  // findings about its rows
  [[nodiscard]] bool misses_time() const { return target > 0.0 && time.count > 0 && time.mean_abs > target; }
  [[nodiscard]] bool misses_tau() const { return target_tau > 0.0 && tau && *tau < target_tau; }
  [[nodiscard]] bool misses_memory() const {
    return memory_target > 0.0 && memory.count > 0 && memory.mean_abs > memory_target;
  }
  [[nodiscard]] bool misses_any() const { return misses_time() || misses_tau() || misses_memory(); }
  [[nodiscard]] bool passed() const { return !threshold || time.count == 0 || time.mean_abs <= *threshold; }
};

// In order of first appearance. `threshold` holds for all sources instead of their own.
[[nodiscard]] std::vector<SourceScore> score(std::span<const PlayedRow> rows, const TrainingConventions& conventions,
                                             std::optional<double> threshold);

}  // namespace ringwright::validation
