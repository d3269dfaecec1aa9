#include "configs/simulation/traced_tasks.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace ringwright::configs {
namespace {

// Empty where no timeline is asked for. The request has been checked.
std::vector<RankId> traced_ranks(const Simulation& simulation, const SimulateOptions& options) {
  constexpr std::size_t kMostUnasked = 64;
  if (options.timeline == nullptr) return {};
  const TaskGraph& graph = simulation.plan().graph;
  const bool of_roles = options.timeline->choice == TimelineRequest::Choice::kRoles;
  if (!options.timeline->ranks && of_roles) return traces::role_trace_ranks(graph, kMostUnasked);
  if (!options.timeline->ranks) return traces::usual_trace_ranks(graph, kMostUnasked);
  auto ranks = traces::parse_trace_ranks(*options.timeline->ranks, graph.rank_count());
  return ranks ? std::move(*ranks) : std::vector<RankId>();
}

// All where none are named. The request has been checked.
std::vector<std::uint32_t> traced_steps(const Simulation& simulation, const SimulateOptions& options) {
  const auto count = static_cast<std::uint32_t>(std::max(simulation.plan().graph.iterations, 1));
  if (options.timeline != nullptr && options.timeline->steps) {
    auto steps = traces::parse_trace_steps(*options.timeline->steps, count);
    return steps ? std::move(*steps) : std::vector<std::uint32_t>();
  }
  std::vector<std::uint32_t> steps(count);
  std::iota(steps.begin(), steps.end(), 0U);
  return steps;
}

}  // namespace

traces::TraceSelection traced(const Simulation& simulation, const SimulateOptions& options) {
  return {.ranks = traced_ranks(simulation, options), .steps = traced_steps(simulation, options)};
}

std::vector<ClassId> recorded_classes(const Simulation& simulation, const SimulateOptions& options) {
  std::set<ClassId> classes;
  for (const RankId rank : traced_ranks(simulation, options)) {
    classes.insert(simulation.folding().ranks.class_of[rank.index()]);
  }
  return {classes.begin(), classes.end()};
}

Diagnostics check_timeline(const Simulation& simulation, const SimulateOptions& options) {
  if (options.timeline == nullptr) return {};
  const TaskGraph& graph = simulation.plan().graph;
  if (options.timeline->ranks) {
    auto ranks = traces::parse_trace_ranks(*options.timeline->ranks, graph.rank_count());
    if (!ranks) return std::move(ranks.error());
  }
  if (options.timeline->steps) {
    auto steps = traces::parse_trace_steps(*options.timeline->steps,
                                           static_cast<std::size_t>(std::max(graph.iterations, 1)));
    if (!steps) return std::move(steps.error());
  }
  const traces::TraceSelection shown = traced(simulation, options);
  return traces::check_timeline_size(traces::count_slices(graph, shown), shown.ranks.size(), options.timeline->form);
}

}  // namespace ringwright::configs
