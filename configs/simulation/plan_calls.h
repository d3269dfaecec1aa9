// The collectives of a plan: every distinct call of every program and group layout, with the number of its tasks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/segments.h"
#include "core/plan/task_graph.h"

namespace ringwright::configs {

// Calls visit(call, program, number of tasks).
template <class Visit>
void for_each_call(const TaskGraph& graph, Visit&& visit) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> count;
  for (std::uint32_t p = 0; p < graph.programs.size(); ++p) {
    visit_tasks(graph, graph.programs[p], [&](const Task& task, std::uint32_t times) {
      if (task.kind == TaskKind::kCollective) count[{p, task.dimension.value, task.detail}] += times;
    });
  }
  std::vector<std::vector<std::uint32_t>> ranks_of(graph.programs.size());
  for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
    ranks_of[graph.program_of[rank].index()].push_back(rank);
  }
  std::set<std::uint32_t> layouts;  // of a program's groups in a dimension; its calls follow each other
  std::optional<std::pair<std::uint32_t, std::uint32_t>> laid_out;
  for (const auto& [key, tasks] : count) {
    const auto& [program, dimension, detail] = key;
    if (laid_out != std::pair(program, dimension)) {
      const Dimension& d = graph.dimensions[dimension];
      layouts.clear();
      std::uint32_t last = ~std::uint32_t{0};  // nearly always the same as for the next one
      for (const std::uint32_t rank : ranks_of[program]) {
        const std::uint32_t layout = d.layout_of_group[d.group_of[rank]];
        if (layout != last) layouts.insert(layout);
        last = layout;
      }
      laid_out = std::pair(program, dimension);
    }
    for (const std::uint32_t layout : layouts) {
      const CollectiveSpec& spec = graph.collectives[detail];
      visit(CollectiveCall{.kind = spec.kind,
                           .bytes = spec.bytes,
                           .layout = &graph.layouts[layout],
                           .dimension = DimensionId(dimension)},
            program, tasks);
    }
  }
}

}  // namespace ringwright::configs
