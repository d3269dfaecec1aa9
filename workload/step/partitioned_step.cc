#include "workload/step/partitioned_step.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/plan/segments.h"

namespace ringwright::workload {
namespace {

// The groups of a dimension within hosts, and those of ranks at the same place of all hosts.
struct Hierarchy {
  DimensionId within;
  DimensionId across;
  std::int64_t per_host = 1;
};

// By host, the members of a group in group order; empty where hosts differ in their number, or there is only one host.
std::vector<std::vector<RankId>> by_host(const std::vector<RankId>& group, std::int64_t ranks_per_host) {
  std::map<std::int64_t, std::vector<RankId>> hosts;
  for (const RankId rank : group) hosts[static_cast<std::int64_t>(rank.index()) / ranks_per_host].push_back(rank);
  std::vector<std::vector<RankId>> result;
  for (auto& [host, members] : hosts) result.push_back(std::move(members));
  const bool even = std::ranges::all_of(result, [&](const auto& one) { return one.size() == result.front().size(); });
  if (!even || result.size() < 2 || result.front().size() < 2) return {};
  return result;
}

std::optional<Hierarchy> add_hierarchy(TaskGraph& graph, DimensionId whole, std::int64_t ranks_per_host) {
  if (!divides_by_hosts(graph.dimensions[whole.index()], ranks_per_host)) return std::nullopt;
  Dimension within, across;
  within.name = graph.dimensions[whole.index()].name + "_within";
  across.name = graph.dimensions[whole.index()].name + "_across";
  std::size_t per_host = 0;
  for (const std::vector<RankId>& group : graph.dimensions[whole.index()].groups) {
    const std::vector<std::vector<RankId>> hosts = by_host(group, ranks_per_host);
    per_host = hosts.front().size();
    for (const std::vector<RankId>& host : hosts) within.groups.push_back(host);
    for (std::size_t place = 0; place < per_host; ++place) {
      std::vector<RankId>& members = across.groups.emplace_back();
      for (const std::vector<RankId>& host : hosts) members.push_back(host[place]);
    }
  }
  index_groups(within, graph.rank_count());
  index_groups(across, graph.rank_count());
  const auto first = graph.dimensions.size();
  graph.dimensions.push_back(std::move(within));
  graph.dimensions.push_back(std::move(across));
  return Hierarchy{.within = DimensionId(first),
                   .across = DimensionId(first + 1),
                   .per_host = static_cast<std::int64_t>(per_host)};
}

// One part of a divided collective, and the stream of that part: 0 that of the collective, then those of its own.
struct CallPart {
  DimensionId dimension;
  CollectiveSpec spec;
  std::size_t stream = 0;
};

class StepDivider {
 public:
  StepDivider(TaskGraph& graph, const Partition& partition, std::int64_t ranks_per_host)
      : graph_(graph), partition_(partition) {
    const std::size_t own = graph.dimensions.size();
    divided_.resize(own);
    for (std::size_t d = 0; d < own; ++d) {
      divided_[d].chosen =
          std::ranges::find(partition.dimensions, graph.dimensions[d].name) != partition.dimensions.end();
      if (!divided_[d].chosen || !partition.hierarchical) continue;
      divided_[d].hierarchy = add_hierarchy(graph, DimensionId(d), ranks_per_host);
    }
    for (const Program& program : graph.programs) {
      streams_ = std::max(streams_, static_cast<std::size_t>(program.stream_count));
    }
  }

  void divide() {
    for (Segment& segment : graph_.segments) {
      const std::size_t before = segment.tasks.size();
      static_cast<void>(rewrite(segment.tasks, segment.dependencies, before));
    }
    for (Program& program : graph_.programs) {
      const std::vector<std::uint32_t> first = rewrite(program.tasks, program.dependencies, program.tasks.size());
      Loop& loop = program.loop;
      if (loop.size > 0) {
        const std::uint32_t begin = first[loop.first];
        loop = {.first = begin, .size = first[loop.first + loop.size] - begin, .cycles = loop.cycles};
      }
    }
    for (Program& program : graph_.programs) program.stream_count = static_cast<int>(streams_);
  }

 private:
  struct Division {
    bool chosen = false;
    std::optional<Hierarchy> hierarchy;
  };

  // The parts of one chunk.
  [[nodiscard]] std::vector<CallPart> parts_of(DimensionId dimension, const CollectiveSpec& spec) const {
    using enum CollectiveKind;
    const std::optional<Hierarchy>& hierarchy = divided_[dimension.index()].hierarchy;
    if (hierarchy) {
      const Bytes share = spec.bytes / hierarchy->per_host;
      const DimensionId within = hierarchy->within, across = hierarchy->across;
      if (spec.kind == kAllReduce) {
        return {{within, {kReduceScatter, spec.bytes}, 0}, {across, {kAllReduce, share}, 1},
                {within, {kAllGather, spec.bytes}, 2}};
      }
      if (spec.kind == kReduceScatter) {
        return {{within, {kReduceScatter, spec.bytes}, 0}, {across, {kReduceScatter, share}, 1}};
      }
      if (spec.kind == kAllGather) return {{across, {kAllGather, share}, 0}, {within, {kAllGather, spec.bytes}, 1}};
    }
    if (partition_.substitute && spec.kind == kAllReduce) {
      return {{dimension, {kReduceScatter, spec.bytes}, 0}, {dimension, {kAllGather, spec.bytes}, 1}};
    }
    return {{dimension, spec, 0}};
  }

  [[nodiscard]] StreamIndex stream_of(StreamIndex own, std::size_t part) {
    if (part == 0) return own;
    const auto [entry, is_new] = more_streams_.try_emplace({own, part}, static_cast<StreamIndex>(streams_));
    if (is_new) ++streams_;
    return entry->second;
  }

  [[nodiscard]] std::uint32_t number_of(const CollectiveSpec& spec) {
    const auto [entry, is_new] = made_.try_emplace({spec.kind, spec.bytes.count()},
                                                   static_cast<std::uint32_t>(graph_.collectives.size()));
    if (is_new) graph_.collectives.push_back(spec);
    return entry->second;
  }

  // Returns by old task the first of its new ones, and behind the last the number of all. Dependencies from `outside`
  // on are those of a segment's call.
  std::vector<std::uint32_t> rewrite(std::vector<Task>& tasks, std::vector<std::uint32_t>& dependencies,
                                     std::size_t outside) {
    std::vector<Task> made;
    std::vector<std::uint32_t> needs;
    std::vector<std::uint32_t> first, last;
    for (const Task& task : tasks) {
      first.push_back(static_cast<std::uint32_t>(made.size()));
      std::vector<std::uint32_t> after;
      for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
        const std::uint32_t before = dependencies[task.first_dependency + d];
        after.push_back(before < outside ? last[before] : kOutside + (before - static_cast<std::uint32_t>(outside)));
      }
      append(task, after, made, needs);
      last.push_back(static_cast<std::uint32_t>(made.size() - 1));
    }
    first.push_back(static_cast<std::uint32_t>(made.size()));
    for (std::uint32_t& before : needs) {
      if (before >= kOutside) before = before - kOutside + static_cast<std::uint32_t>(made.size());
    }
    tasks = std::move(made);
    dependencies = std::move(needs);
    return first;
  }

  void append(const Task& task, const std::vector<std::uint32_t>& after, std::vector<Task>& made,
              std::vector<std::uint32_t>& needs) {
    const auto add = [&](Task one, const std::vector<std::uint32_t>& before) {
      one.first_dependency = static_cast<std::uint32_t>(needs.size());
      one.dependency_count = static_cast<std::uint32_t>(before.size());
      needs.insert(needs.end(), before.begin(), before.end());
      made.push_back(one);
      return static_cast<std::uint32_t>(made.size() - 1);
    };
    const bool collective = task.kind == TaskKind::kCollective && task.stream != kNoStream;
    if (!collective || !divided_[task.dimension.index()].chosen) {
      add(task, after);
      return;
    }
    const CollectiveSpec whole = graph_.collectives[task.detail];
    std::int64_t left = whole.bytes.count();
    for (int chunk = partition_.chunks; chunk > 0; --chunk) {
      const Bytes bytes((left + chunk - 1) / chunk);
      left -= bytes.count();
      std::vector<std::uint32_t> before = after;
      for (const CallPart& part : parts_of(task.dimension, {.kind = whole.kind, .bytes = bytes})) {
        Task one = task;
        one.dimension = part.dimension;
        one.stream = stream_of(task.stream, part.stream);
        one.detail = number_of(part.spec);
        before = {add(one, before)};
      }
    }
  }

  static constexpr std::uint32_t kOutside = 1U << 31U;

  TaskGraph& graph_;
  const Partition& partition_;
  std::vector<Division> divided_;  // by dimension of the graph as it was
  std::size_t streams_ = 1;
  std::map<std::pair<StreamIndex, std::size_t>, StreamIndex> more_streams_;
  std::map<std::pair<CollectiveKind, std::int64_t>, std::uint32_t> made_;
};

// Of each stage's first program, as build_step() counts.
void count_again(StepPlan& plan) {
  for (std::size_t stage = 0; stage < plan.communication.size(); ++stage) {
    const auto program = std::ranges::find(plan.graph.programs, fmt::format("stage {}", stage), &Program::name);
    CHECK(program != plan.graph.programs.end(), "every stage has a program");
    std::vector<Bytes> bytes(plan.graph.dimensions.size());
    visit_tasks(plan.graph, *program, [&](const Task& task, std::uint32_t times) {
      const bool call = task.kind == TaskKind::kCollective;
      if (!call && task.kind != TaskKind::kSend) return;
      const Bytes size = call ? plan.graph.collectives[task.detail].bytes : plan.graph.messages[task.detail].bytes;
      bytes[task.dimension.index()] += size * std::int64_t{times};
    });
    plan.communication[stage] = std::move(bytes);
  }
}

}  // namespace

bool divides_by_hosts(const Dimension& dimension, std::int64_t ranks_per_host) {
  std::size_t per_host = 0;
  for (const std::vector<RankId>& group : dimension.groups) {
    const std::vector<std::vector<RankId>> hosts = by_host(group, ranks_per_host);
    if (hosts.empty() || (per_host > 0 && hosts.front().size() != per_host)) return false;
    per_host = hosts.front().size();
  }
  return true;
}

void partition_step(StepPlan& plan, const Partition& partition, std::int64_t ranks_per_host) {
  if (!partition.on()) return;
  StepDivider(plan.graph, partition, ranks_per_host).divide();
  count_again(plan);
}

}  // namespace ringwright::workload
