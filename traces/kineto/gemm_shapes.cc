#include "traces/kineto/gemm_shapes.h"

#include <cstddef>
#include <string_view>

namespace ringwright::traces {

void GemmCollector::add_operation(const KinetoEvent& event) {
  const bool adds = event.name == "aten::addmm" || event.name == "aten::baddbmm";
  const std::size_t first = adds ? 1 : 0;  // the addend comes before the factors
  if (event.operation == 0 || event.dims.size() < first + 2) return;
  const auto& left = event.dims[first];
  const auto& right = event.dims[first + 1];
  if (left.size() != right.size() || left.size() < 2 || left.size() > 3) return;
  const bool batched = left.size() == 3;
  const std::size_t row = batched ? 1 : 0;
  MeasuredGemm gemm{.batch = batched ? left[0] : 1,
                    .m = left[row],
                    .n = right[row + 1],
                    .k = left[row + 1],
                    .type = event.input_type,
                    .time = {}};
  if (gemm.batch <= 0 || gemm.m <= 0 || gemm.n <= 0 || gemm.k <= 0 || right[row] != gemm.k) return;
  by_operation_.try_emplace(event.operation, std::move(gemm));
}

void GemmCollector::resolve(KinetoTrace& trace) const {
  std::map<std::uint64_t, MeasuredGemm> timed;
  for (const GpuActivity& activity : trace.activities) {
    if (activity.work != GpuWork::kKernel || activity.operation == 0) continue;
    const auto found = by_operation_.find(activity.operation);
    if (found == by_operation_.end()) continue;
    MeasuredGemm& gemm = timed.try_emplace(found->first, found->second).first->second;
    gemm.time += activity.time;
    ++gemm.kernels;
  }
  for (auto& [operation, gemm] : timed) trace.gemms.push_back(std::move(gemm));
}

}  // namespace ringwright::traces
