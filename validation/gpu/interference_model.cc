#include "validation/gpu/interference_model.h"

#include <algorithm>
#include <cmath>

#include "workload/gpu/gpu_share.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation {
namespace {

// A multiprocessor moves from a few to a hundred GB/s; bytes beyond those of the data are caches' and ECC's.
constexpr std::array kRuleConstants = {
    InterferenceConstantDoc{"copy_rate", "", {2e9, 200e9, 25e9}},
    InterferenceConstantDoc{"reduce_rate", "", {2e9, 200e9, 20e9}},
    InterferenceConstantDoc{"bytes_per_copied", "memory_bytes_per_copied_byte", {0.5, 6.0, 2.0}},
    InterferenceConstantDoc{"bytes_per_reduced", "memory_bytes_per_reduced_byte", {0.5, 8.0, 3.0}},
    InterferenceConstantDoc{"streaming_share", "streaming_share", {0.1, 1.0, 0.5}},
    InterferenceConstantDoc{"loaded_latency", "loaded_latency", {1.0, 10.0, 2.4}},
};

InterferenceConstants constants_of(std::span<const double> values) {
  return {.copy_rate = Bandwidth(values[0]),
          .reduce_rate = Bandwidth(values[1]),
          .bytes_per_copied = values[2],
          .bytes_per_reduced = values[3],
          .streaming_share = values[4],
          .loaded_latency = values[5]};
}

double square(double x) { return x * x; }

double squared_errors(const MeasuredPair& pair, const PairPrediction& prediction) {
  return square(std::log(prediction.together_seconds / pair.together_seconds)) +
         square(std::log(prediction.blocks_alone.count() / pair.blocks_alone.count())) +
         square(std::log(prediction.blocks_together.count() / pair.blocks_together.count()));
}

}  // namespace

std::span<const InterferenceConstantDoc> interference_constants() { return kRuleConstants; }

std::vector<double> values_of(const InterferenceConstants& c) {
  return {c.copy_rate.count(), c.reduce_rate.count(), c.bytes_per_copied, c.bytes_per_reduced, c.streaming_share,
          c.loaded_latency};
}

PairPrediction predict(const MeasuredPair& pair, const workload::GpuSpec& given,
                       const InterferenceConstants& constants) {
  workload::GpuSpec gpu = given;
  gpu.streaming_share = constants.streaming_share;
  gpu.loaded_latency = constants.loaded_latency;
  const double memory = gpu.memory_bandwidth.count() * gpu.kernels[workload::KernelConstant::kStreamShare];
  const double bytes_per_byte = pair.adds ? constants.bytes_per_reduced : constants.bytes_per_copied;
  const double rate = (pair.adds ? constants.reduce_rate : constants.copy_rate).count() * static_cast<double>(pair.sms);
  const double alone = std::min(rate, memory / bytes_per_byte);
  const Contention taken{.sms = static_cast<int>(pair.sms), .memory = Bandwidth(alone * bytes_per_byte)};
  const workload::GpuShare share(gpu, taken, gpu.kernels[workload::KernelConstant::kStreamShare]);
  const double slower =
      workload::kernel_seconds(pair.kernel, share.of_kernel()) / workload::kernel_seconds(pair.kernel, gpu);
  const double together = pair.alone_seconds * std::max(slower, 1.0);
  const double kept = share.of_blocks(pair.kernel, from_seconds(together)).count() / bytes_per_byte;
  return {.together_seconds = together, .blocks_alone = Bandwidth(alone), .blocks_together = Bandwidth(kept)};
}

InterferenceFit fit_interference(std::span<const MeasuredPair> rows, const workload::GpuSpec& gpu) {
  std::vector<FitConstant> bounds;
  for (const InterferenceConstantDoc& constant : kRuleConstants) bounds.push_back(constant.bounds);
  const FitAnswer answer = fit(bounds, [&](std::span<const double> values) {
    double sum = 0.0;
    double count = 0.0;
    for (const MeasuredPair& pair : rows) {
      if (pair.held_out) continue;
      sum += squared_errors(pair, predict(pair, gpu, constants_of(values)));
      count += 3.0;
    }
    return count > 0.0 ? std::sqrt(sum / count) : 0.0;
  });
  return {.constants = constants_of(answer.values), .error = answer.error, .error_at_start = answer.error_at_start,
          .matters = answer.matters};
}

}  // namespace ringwright::validation
