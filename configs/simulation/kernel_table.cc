#include "configs/simulation/kernel_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "configs/simulation/work_calls.h"

namespace ringwright::configs {
namespace {

// By the GPU's peaks, compared with what any launch of the kernel costs.
KernelBound bound_of(const workload::GpuSpec& gpu, Duration overhead, const Kernel& kernel) {
  const FlopRate peak = gpu.peak_of(kernel.type);
  const double arithmetic = peak > FlopRate(0.0) ? kernel.flops.count() / peak.count() : 0.0;
  const double memory = gpu.memory_bandwidth > Bandwidth(0.0)
                            ? static_cast<double>(kernel.bytes.count()) / gpu.memory_bandwidth.count()
                            : 0.0;
  if (std::max(arithmetic, memory) < to_seconds(overhead)) return KernelBound::kOverhead;
  return arithmetic < memory ? KernelBound::kMemory : KernelBound::kArithmetic;
}

struct Sum {
  KernelUse use;
  WideInteger launches = 0;  // of all ranks
  WideInteger time = 0;      // picoseconds, of all ranks
};

// Rows of one key are one row, as means over ranks.
class KernelSums {
 public:
  explicit KernelSums(std::size_t ranks) : ranks_(static_cast<WideInteger>(std::max<std::size_t>(ranks, 1))) {}

  using Key = std::tuple<std::string, std::string, std::string, double, std::int64_t>;
  void add(KernelUse use, std::uint64_t launches) {
    const Key key{use.family, use.name, use.type, use.flops.count(), use.bytes.count()};
    Sum& sum = sums_[key];
    sum.launches += launches;
    sum.time += static_cast<WideInteger>(use.launch.count()) * launches;
    sum.use = std::move(use);
  }

  [[nodiscard]] std::vector<KernelUse> rows() const {
    std::vector<KernelUse> rows;
    for (const auto& [key, sum] : sums_) {
      KernelUse row = sum.use;
      row.time = Duration(static_cast<std::int64_t>((sum.time + ranks_ / 2) / ranks_));
      row.launches = static_cast<double>(sum.launches) / static_cast<double>(ranks_);
      if (row.time > Duration()) rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &KernelUse::time);
    return rows;
  }

 private:
  WideInteger ranks_;
  std::map<Key, Sum> sums_;
};

// The rows behind the first `most`, one for each family and limit.
void join_rest(std::vector<KernelUse>& rows, std::size_t most) {
  if (rows.size() <= most) return;
  std::vector<KernelUse> rest(rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end());
  rows.resize(most);
  for (KernelUse& row : rest) {
    const auto same =
        std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end(),
                     [&](const KernelUse& other) { return other.family == row.family && other.bound == row.bound; });
    if (same == rows.end()) {
      rows.push_back({.family = row.family,
                      .name = "others",
                      .type = "",
                      .bound = row.bound,
                      .launches = row.launches,
                      .time = row.time});
      continue;
    }
    same->launches += row.launches;
    same->time += row.time;
  }
}

}  // namespace

std::vector<KernelUse> kernel_table(const Scenario& scenario, const TaskGraph& graph) {
  const std::vector<std::uint64_t> calls = calls_of_works(graph);
  KernelSums sums(graph.rank_count());
  for (std::size_t w = 0; w < graph.works.size(); ++w) {
    const Work& work = graph.works[w];
    if (calls[w] == 0) continue;
    if (work.recorded) sums.add({.family = "recorded", .name = "of the traces", .launch = *work.recorded}, calls[w]);
    if (work.recorded) continue;
    const ComputeModel& compute = scenario.job.compute->of_gpu(work.gpu);
    for (const Kernel& kernel : work.kernels) {
      sums.add({.family = std::string(to_string(kernel.family)),
                .name = kernel.name,
                .type = std::string(to_string(kernel.type)),
                .bound = bound_of(scenario.cluster.gpu_of_kind(work.gpu), compute.launch_overhead(kernel), kernel),
                .launch = compute.duration(kernel),
                .flops = kernel.flops,
                .bytes = kernel.bytes},
               calls[w] * static_cast<std::uint64_t>(kernel.launches));
    }
  }
  std::vector<KernelUse> rows = sums.rows();
  join_rest(rows, kMostKernels);
  return rows;
}

}  // namespace ringwright::configs
