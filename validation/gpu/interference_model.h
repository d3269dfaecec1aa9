// The interference rung's rules for one kernel concurrent with copy blocks, and the fit of their constants.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "validation/fit/bounded_fit.h"
#include "validation/gpu/interference_table.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

// The rate of a copy block on one multiprocessor, its use of device memory, and the number of multiprocessors that
// memory needs; how many times as long a load takes while a kernel saturates memory.
struct InterferenceConstants {
  Bandwidth copy_rate = Bandwidth(25e9);    // one multiprocessor, bytes of one stream
  Bandwidth reduce_rate = Bandwidth(20e9);
  double bytes_per_copied = 2.0;
  double bytes_per_reduced = 3.0;
  double streaming_share = 0.5;
  double loaded_latency = 2.4;
};

struct InterferenceConstantDoc {
  std::string_view name;  // "bytes_per_copied"
  std::string_view key;   // of a scenario; empty: the rung does not use it
  FitConstant bounds;
};
[[nodiscard]] std::span<const InterferenceConstantDoc> interference_constants();
[[nodiscard]] std::vector<double> values_of(const InterferenceConstants& constants);

struct PairPrediction {
  double together_seconds = 0.0;
  Bandwidth blocks_alone;
  Bandwidth blocks_together;
};

// The kernel's time alone is taken as measured: its slowdown is predicted. The copy blocks run at their rate on each
// multiprocessor as long as memory provides it, and during the kernel as workload/gpu/gpu_share.h says.
[[nodiscard]] PairPrediction predict(const MeasuredPair& pair, const workload::GpuSpec& gpu,
                                     const InterferenceConstants& constants);

struct InterferenceFit {
  InterferenceConstants constants;
  double error = 0.0;           // root mean square of the logarithm's error, of rows that were fitted
  double error_at_start = 0.0;
  std::vector<bool> matters;  // by constant: the rows affect it
};
// Over rows that are not held out.
[[nodiscard]] InterferenceFit fit_interference(std::span<const MeasuredPair> rows, const workload::GpuSpec& gpu);

}  // namespace ringwright::validation
