#include "core/run/step/lone_rehearsal.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/plan/segments.h"

namespace ringwright {
namespace {

// By program: dimension and specification of the collectives of its segments.
using Collectives = std::set<std::pair<DimensionId, std::uint32_t>>;

std::vector<Collectives> collectives_of_programs(const TaskGraph& graph) {
  std::vector<Collectives> of_programs;
  for (const Program& program : graph.programs) {
    Collectives& collectives = of_programs.emplace_back();
    const std::vector<std::uint32_t> calls = count_calls(graph, program);
    for (std::size_t segment = 0; segment < calls.size(); ++segment) {
      if (calls[segment] == 0) continue;
      for (const Task& task : graph.segments[segment].tasks) {
        if (task.kind == TaskKind::kCollective) collectives.emplace(task.dimension, task.detail);
      }
    }
  }
  return of_programs;
}

}  // namespace

std::optional<RehearsedCalls> lone_calls_of_segments(const TaskGraph& graph, const RankClasses& classes,
                                                     LoneCalls& lone) {
  const std::vector<Collectives> of_programs = collectives_of_programs(graph);
  RehearsedCalls calls{.of_class = {}, .rings = {}, .lone = &lone, .lone_of_several = false};
  for (std::size_t c = 0; c < classes.count(); ++c) {
    std::vector<RehearsedCall>& own = calls.of_class.emplace_back();
    const RankId rank = classes.representative[c];
    for (const auto& [dimension, spec] : of_programs[graph.program_of[rank.index()].index()]) {
      LoneCall& call = lone.collective(ClassId(c), dimension, spec);
      if (!call.known) return std::nullopt;
      const auto& members = call.order.members;
      const auto member = std::ranges::lower_bound(members, ClassId(c)) - members.begin();
      calls.lone_of_several = calls.lone_of_several || members.size() > 1;
      own.push_back({.dimension = dimension,
                     .kind = TaskKind::kCollective,
                     .spec = spec,
                     .time = {},
                     .sent = {},
                     .messages = 0,
                     .links = {},
                     .lone = &call,
                     .member = static_cast<std::uint32_t>(member)});
    }
  }
  return calls;
}

}  // namespace ringwright
