// Asks choosers again: their answer depends on the call alone.
#include "configs/simulation/collective_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/plan/segments.h"

namespace ringwright::configs {
namespace {

// Dimension, kind, bytes, layout.
using CallKey = std::tuple<std::uint32_t, CollectiveKind, std::int64_t, std::uint32_t>;

struct Use {
  std::uint64_t calls = 0;  // of the rank that makes most of them in a step
  std::uint32_t spec = 0;
};

std::map<CallKey, Use> uses_of(const TaskGraph& graph) {
  std::map<CallKey, Use> uses;
  std::vector<std::vector<std::uint32_t>> ranks_of(graph.programs.size());
  for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank)
    ranks_of[graph.program_of[rank].index()].push_back(rank);
  for (std::size_t p = 0; p < graph.programs.size(); ++p) {
    std::map<CallKey, Use> of_program;
    visit_tasks(graph, graph.programs[p], [&](const Task& task, std::uint32_t times) {
      if (task.kind != TaskKind::kCollective) return;
      const CollectiveSpec& spec = graph.collectives[task.detail];
      Use& use = of_program[{task.dimension.value, spec.kind, spec.bytes.count(), 0}];
      use.calls += times;
      use.spec = task.detail;
    });
    for (const auto& [key, use] : of_program) {
      const auto& [dimension, kind, bytes, none] = key;
      const Dimension& d = graph.dimensions[dimension];
      std::set<std::uint32_t> layouts;
      for (const std::uint32_t rank : ranks_of[p]) layouts.insert(d.layout_of_group[d.group_of[rank]]);
      for (const std::uint32_t layout : layouts) {
        Use& all = uses[{dimension, kind, bytes, layout}];
        all = {.calls = std::max(all.calls, use.calls), .spec = use.spec};
      }
    }
  }
  return uses;
}

void tell_choice(const Simulation& simulation, const CollectiveCall& call, CollectiveUse& use) {
  PlayedChoice choice = played_choice(simulation, call);
  use.algorithm = std::move(choice.algorithm);
  use.protocol = std::move(choice.protocol);
  use.channels = choice.channels;
}

// Groups may lie differently on their hosts and still have identical rows.
bool looks_like(const CollectiveUse& a, const CollectiveUse& b) {
  const auto content = [](const CollectiveUse& use) {
    return std::tie(use.dimension, use.operation, use.bytes, use.ranks, use.hosts, use.algorithm, use.protocol,
                    use.channels);
  };
  return content(a) == content(b);
}

// Over all specs with these contents.
void tell_times(const TaskGraph& graph, const RunRecord& record, const CollectiveCall& call, CollectiveUse& use) {
  std::uint64_t count = 0;
  WideInteger sum = 0;
  for (const CallTime& time : record.calls) {
    const CollectiveSpec& spec = graph.collectives[time.spec];
    if (time.dimension != call.dimension || spec.kind != call.kind || spec.bytes != call.bytes) continue;
    use.shortest = std::min(use.shortest.value_or(time.shortest), time.shortest);
    count += time.count;
    sum += time.sum;
  }
  if (count > 0) use.mean = Duration(static_cast<std::int64_t>(sum / count));
}

// Times are recorded by dimension, kind and bytes: where groups of several shapes make one call, which of them took how
// long is not known.
void forget_shared_times(std::vector<CollectiveUse>& table) {
  std::map<std::tuple<std::string, std::string, Bytes>, int> rows;
  const auto rows_of = [&rows](const CollectiveUse& use) -> int& {
    return rows[{use.dimension, use.operation, use.bytes}];
  };
  for (const CollectiveUse& use : table) ++rows_of(use);
  for (CollectiveUse& use : table) {
    if (rows_of(use) < 2) continue;
    use.shortest.reset();
    use.mean.reset();
  }
}

}  // namespace

PlayedChoice played_choice(const Simulation& simulation, const CollectiveCall& call) {
  const CollectiveAlgorithm& steps = simulation.chooser().choose(call);
  const std::optional<CollectivePlan> plan = simulation.kernels_of(call);
  if (!plan) return {.algorithm = std::string(steps.name()), .protocol = "", .channels = 0};
  const bool stands_for_kernels = collectives::kernel_of(steps, call) != plan->algorithm;
  const bool by_kernels = simulation.channels() != nullptr || stands_for_kernels;
  return {.algorithm = by_kernels ? plan->algorithm : std::string(steps.name()),
          .protocol = std::string(to_string(plan->protocol)),
          .channels = plan->channels};
}

std::vector<CollectiveUse> collective_table(const Simulation& simulation, const RunRecord& record) {
  const TaskGraph& graph = simulation.plan().graph;
  std::vector<CollectiveUse> table;
  for (const auto& [key, found] : uses_of(graph)) {
    const auto& [dimension, kind, bytes, layout] = key;
    const CollectiveCall call{
        .kind = kind, .bytes = Bytes(bytes), .layout = &graph.layouts[layout], .dimension = DimensionId(dimension)};
    if (call.size() < 2) continue;
    CollectiveUse use{.dimension = graph.dimensions[dimension].name,
                      .operation = std::string(to_string(kind)),
                      .bytes = call.bytes,
                      .ranks = call.size(),
                      .hosts = call.layout->host_count(),
                      .calls = found.calls};
    tell_choice(simulation, call, use);
    tell_times(graph, record, call, use);
    const auto same = std::ranges::find_if(table, [&](const CollectiveUse& row) { return looks_like(row, use); });
    if (same == table.end()) {
      table.push_back(std::move(use));
    } else {
      same->calls = std::max(same->calls, use.calls);
    }
  }
  forget_shared_times(table);
  std::ranges::stable_sort(table, [](const CollectiveUse& a, const CollectiveUse& b) {
    const auto moved = [](const CollectiveUse& use) {
      return static_cast<double>(use.bytes.count()) * static_cast<double>(use.calls);
    };
    return a.dimension != b.dimension ? a.dimension < b.dimension : moved(a) > moved(b);
  });
  return table;
}

}  // namespace ringwright::configs
