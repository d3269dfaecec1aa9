#include "validation/kineto/operator_replay.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "traces/kineto/kernel_name.h"
#include "validation/kernels/kernel_table.h"

namespace ringwright::validation {
namespace {

// Kernels of one key take the same time in the model. GEMMs of any operator are one row.
auto key_of(const Kernel& kernel) {
  const bool is_gemm = kernel.family == KernelFamily::kGemm;
  return std::tuple(is_gemm ? std::string_view() : std::string_view(kernel.name), kernel.family, kernel.type,
                    kernel.batch, kernel.m, kernel.n, kernel.k, kernel.mask, kernel.bytes);
}

struct OperatorMeasurement {
  Kernel kernel;
  std::vector<Duration> times;
};

bool computes(KernelFamily family) {
  return family == KernelFamily::kGemm || family == KernelFamily::kAttentionForward ||
         family == KernelFamily::kAttentionBackward;
}

Duration computing_time(const traces::KinetoTrace& trace) {
  Duration sum;
  for (const traces::GpuActivity& activity : trace.activities) {
    if (activity.work != traces::GpuWork::kKernel || traces::communicates(trace.names[activity.name])) continue;
    sum += activity.time;
  }
  return sum;
}

}  // namespace

OperatorReplay replay_operators(const std::vector<traces::KinetoTrace>& traces, const workload::GpuSpec& gpu) {
  OperatorReplay replay;
  std::map<decltype(key_of(Kernel())), OperatorMeasurement> by_shape;
  for (const traces::KinetoTrace& trace : traces) {
    replay.computing += computing_time(trace);
    for (const traces::MeasuredOperator& one : trace.operators) {
      if (computes(one.kernel.family) && gpu.peak_of(one.kernel.type) <= FlopRate(0.0)) {
        ++replay.left_out;
        continue;
      }
      OperatorMeasurement& measured =
          by_shape.try_emplace(key_of(one.kernel), OperatorMeasurement{one.kernel, {}}).first->second;
      measured.times.push_back(one.time);
    }
  }
  for (auto& [key, one] : by_shape) {
    std::ranges::sort(one.times);
    const Duration median = one.times[(one.times.size() - 1) / 2];
    // A profiler's time contains how a kernel starts and ends, which kernels in a row do not hide from one another.
    const MeasuredKernel row{.kernel = one.kernel, .mode = LaunchMode::kGraph};
    const Duration simulated = from_seconds(predicted_seconds(row, gpu));
    if (median <= Duration(0) || simulated <= Duration(0)) continue;
    for (const Duration time : one.times) replay.compared += time;
    auto& rows = one.kernel.family == KernelFamily::kGemm ? replay.gemms : replay.others;
    rows.push_back({.kernel = one.kernel, .calls = one.times.size(), .measured = median, .simulated = simulated});
  }
  return replay;
}

std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedOperator>& rows) {
  std::vector<PredictedMeasured> pairs;
  for (const ReplayedOperator& row : rows) {
    pairs.push_back({.predicted = to_seconds(row.simulated), .measured = to_seconds(row.measured)});
  }
  return pairs;
}

}  // namespace ringwright::validation
