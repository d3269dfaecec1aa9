#include "configs/simulation/work_calls.h"

#include "core/plan/segments.h"

namespace ringwright::configs {

std::vector<std::uint64_t> calls_of_works(const TaskGraph& graph) {
  std::vector<std::uint64_t> ranks(graph.programs.size(), 0);
  for (const ProgramId program : graph.program_of) ++ranks[program.index()];
  std::vector<std::uint64_t> calls(graph.works.size(), 0);
  for (std::size_t p = 0; p < graph.programs.size(); ++p) {
    if (ranks[p] == 0) continue;
    visit_tasks(graph, graph.programs[p], [&](const Task& task, std::uint32_t times) {
      if (task.kind == TaskKind::kCompute && task.stream != kNoStream) calls[task.detail] += times * ranks[p];
    });
  }
  return calls;
}

}  // namespace ringwright::configs
