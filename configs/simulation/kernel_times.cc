#include "configs/simulation/kernel_times.h"

#include <array>
#include <string>

#include "configs/simulation/work_calls.h"

namespace ringwright::configs {
namespace {

constexpr std::size_t kFamilies = static_cast<std::size_t>(KernelFamily::kCopy) + 1;
constexpr std::size_t kRecordedWork = kFamilies;  // behind the families

using FamilyTimes = std::array<std::int64_t, kFamilies + 1>;  // picoseconds

FamilyTimes times_of_work(const Work& work, const ComputeModel& compute) {
  FamilyTimes times{};
  if (work.recorded) {
    times[kRecordedWork] = work.recorded->count();
    return times;
  }
  for (const Kernel& kernel : work.kernels) {
    const Duration launch = compute.of_gpu(work.gpu).duration(kernel);
    times[static_cast<std::size_t>(kernel.family)] += (launch * kernel.launches).count();
  }
  return times;
}

}  // namespace

std::vector<KernelTime> kernel_times(const TaskGraph& graph, const ComputeModel& compute) {
  const std::vector<std::uint64_t> calls = calls_of_works(graph);
  std::array<WideInteger, kFamilies + 1> sums{};
  for (std::size_t w = 0; w < graph.works.size(); ++w) {
    if (calls[w] == 0) continue;
    const FamilyTimes times = times_of_work(graph.works[w], compute);
    for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += static_cast<WideInteger>(times[f]) * calls[w];
  }
  const auto ranks = static_cast<WideInteger>(graph.rank_count());
  std::vector<KernelTime> result;
  for (std::size_t f = 0; f < sums.size(); ++f) {
    if (sums[f] <= 0 || ranks <= 0) continue;
    const std::string name(f == kRecordedWork ? "recorded" : to_string(static_cast<KernelFamily>(f)));
    result.push_back({.family = name, .time = Duration(static_cast<std::int64_t>((sums[f] + ranks / 2) / ranks))});
  }
  return result;
}

}  // namespace ringwright::configs
