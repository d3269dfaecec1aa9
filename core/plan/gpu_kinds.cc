#include "core/plan/gpu_kinds.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace ringwright {
namespace {

class GpuSplit {
 public:
  explicit GpuSplit(TaskGraph& graph) : graph_(graph) {}

  ProgramId program(ProgramId of, int gpu) {
    const auto [entry, is_new] = programs_.try_emplace({of.value, gpu});
    if (!is_new) return entry->second;
    entry->second = ProgramId(graph_.programs.size());
    Program copy = graph_.programs[of.index()];
    for (Task& task : copy.tasks) renumber(task, gpu);
    graph_.programs.push_back(std::move(copy));
    return entry->second;
  }

 private:
  using Numbers = std::map<std::pair<std::uint32_t, int>, std::uint32_t>;  // of copies, by original and kind

  void renumber(Task& task, int gpu) {
    if (task.kind == TaskKind::kCompute) task.detail = work(task.detail, gpu);
    if (task.kind == TaskKind::kSegment) task.detail = segment(task.detail, gpu);
  }
  std::uint32_t work(std::uint32_t of, int gpu) {
    const auto next = static_cast<std::uint32_t>(graph_.works.size());
    const auto [entry, is_new] = works_.try_emplace({of, gpu}, next);
    if (!is_new) return entry->second;
    Work copy = graph_.works[of];
    copy.gpu = gpu;
    graph_.works.push_back(std::move(copy));
    return next;
  }
  std::uint32_t segment(std::uint32_t of, int gpu) {
    const auto next = static_cast<std::uint32_t>(graph_.segments.size());
    const auto [entry, is_new] = segments_.try_emplace({of, gpu}, next);
    if (!is_new) return entry->second;
    Segment copy = graph_.segments[of];
    for (Task& task : copy.tasks) renumber(task, gpu);
    graph_.segments.push_back(std::move(copy));
    return next;
  }

  TaskGraph& graph_;
  std::map<std::pair<std::uint32_t, int>, ProgramId> programs_;
  Numbers works_;
  Numbers segments_;
};

}  // namespace

void split_by_gpu(TaskGraph& graph, std::span<const int> gpu_of_rank) {
  if (gpu_of_rank.empty()) return;
  CHECK(gpu_of_rank.size() == graph.rank_count(), "one kind of GPU per rank");
  GpuSplit split(graph);
  for (std::size_t rank = 0; rank < graph.rank_count(); ++rank) {
    if (gpu_of_rank[rank] != 0) graph.program_of[rank] = split.program(graph.program_of[rank], gpu_of_rank[rank]);
  }
}

}  // namespace ringwright
