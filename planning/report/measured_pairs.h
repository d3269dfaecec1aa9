// Measurements with their predictions, from the results of `ringwright validate`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planning/report/json_value.h"

namespace ringwright::planning {

struct MeasuredPair {
  std::string source;     // "all_reduce", "megatron-2021"
  std::string what;       // the row: "GPT 175B, TP 8 PP 8", "1 MiB"
  double measured = 0.0;  // seconds, above 0
  double predicted = 0.0;

  [[nodiscard]] double error() const { return predicted / measured - 1.0; }
};

struct SourceErrors {
  std::string source;
  std::size_t count = 0;
  double mean_absolute = 0.0;
  double mean = 0.0;
  double largest = 0.0;  // absolute
};

// Of training rows, logs of collectives, or calls of a profiler's trace; without rows that were not simulated.
[[nodiscard]] std::vector<MeasuredPair> measured_pairs(const JsonValue& validation);
// In the order of first appearance, all of them last.
[[nodiscard]] std::vector<SourceErrors> errors_by_source(const std::vector<MeasuredPair>& pairs);

}  // namespace ringwright::planning
