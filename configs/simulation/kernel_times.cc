#include "configs/simulation/kernel_times.h"

#include <array>
#include <map>
#include <string>

#include "core/plan/segments.h"

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
    times[static_cast<std::size_t>(kernel.family)] += (compute.duration(kernel) * kernel.launches).count();
  }
  return times;
}

}  // namespace

std::vector<KernelTime> kernel_times(const TaskGraph& graph, const ComputeModel& compute) {
  std::vector<FamilyTimes> of_work;
  of_work.reserve(graph.works.size());
  for (const Work& work : graph.works) of_work.push_back(times_of_work(work, compute));
  std::vector<std::int64_t> ranks_of(graph.programs.size());
  for (const ProgramId program : graph.program_of) ++ranks_of[program.index()];
  std::array<WideInteger, kFamilies + 1> sums{};
  for (std::size_t p = 0; p < graph.programs.size(); ++p) {
    if (ranks_of[p] == 0) continue;
    visit_tasks(graph, graph.programs[p], [&](const Task& task, std::uint32_t times) {
      if (task.kind != TaskKind::kCompute || task.stream == kNoStream) return;
      const WideInteger weight = static_cast<WideInteger>(times) * ranks_of[p];
      for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += of_work[task.detail][f] * weight;
    });
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
