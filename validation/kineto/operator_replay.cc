#include "validation/kineto/gemm_replay.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "validation/kernels/kernel_table.h"

namespace ringwright::validation {
namespace {

std::optional<DataType> data_type_of(std::string_view type) {
  if (type.starts_with("c10::")) type.remove_prefix(5);
  if (type == "BFloat16") return DataType::kBf16;
  if (type == "Half") return DataType::kFp16;
  if (type == "float" || type == "Float") return DataType::kFp32;
  if (type.starts_with("Float8_e4m3") || type.starts_with("Float8_e5m2")) return DataType::kFp8;
  return std::nullopt;
}

Kernel kernel_of(const traces::MeasuredGemm& gemm, DataType type) {
  Kernel kernel{.family = KernelFamily::kGemm,
                .name = "gemm",
                .type = type,
                .m = gemm.m,
                .n = gemm.n,
                .k = gemm.k,
                .batch = gemm.batch};
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n), k = static_cast<double>(gemm.k);
  const auto batch = static_cast<double>(gemm.batch);
  kernel.flops = Flops(2.0 * m * n * k * batch);
  kernel.bytes = scale(Bytes(1), (m * k + k * n + m * n) * batch * bytes_per_element(type));
  return kernel;
}

}  // namespace

GemmReplay replay_gemms(const std::vector<traces::KinetoTrace>& traces, const workload::GpuSpec& gpu) {
  GemmReplay replay;
  using Shape = std::tuple<DataType, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Shape, std::vector<Duration>> times;
  for (const traces::KinetoTrace& trace : traces) {
    for (const traces::MeasuredGemm& gemm : trace.gemms) {
      const auto type = data_type_of(gemm.type);
      if (!type || gpu.peak_of(*type) <= FlopRate(0.0)) {
        ++replay.left_out;
        continue;
      }
      times[{*type, gemm.batch, gemm.m, gemm.n, gemm.k}].push_back(gemm.time);
    }
  }
  for (auto& [shape, measured] : times) {
    const auto& [type, batch, m, n, k] = shape;
    MeasuredKernel row{.kernel = kernel_of({.batch = batch, .m = m, .n = n, .k = k}, type),
                       .mode = LaunchMode::kKernel};
    std::ranges::sort(measured);
    const Duration median = measured[(measured.size() - 1) / 2];
    const Duration simulated = from_seconds(predicted_seconds(row, gpu));
    if (median <= Duration(0) || simulated <= Duration(0)) continue;
    replay.rows.push_back({.kernel = row.kernel, .calls = measured.size(), .measured = median, .simulated = simulated});
  }
  return replay;
}

std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedGemm>& rows) {
  std::vector<PredictedMeasured> pairs;
  for (const ReplayedGemm& row : rows) {
    pairs.push_back({.predicted = to_seconds(row.simulated), .measured = to_seconds(row.measured)});
  }
  return pairs;
}

}  // namespace ringwright::validation
