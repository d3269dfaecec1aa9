#include "core/plan/task_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/plan/segments.h"

namespace ringwright {
namespace {

std::size_t details_of(const TaskGraph& graph, TaskKind kind) {
  switch (kind) {
    case TaskKind::kCompute: return graph.works.size();
    case TaskKind::kCollective: return graph.collectives.size();
    case TaskKind::kSend:
    case TaskKind::kReceive: return graph.messages.size();
    case TaskKind::kSegment: return graph.segments.size();
  }
  return 0;
}

bool is_message(const Task& task) {
  return task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive;
}

// What is wrong with a task by itself, without its dependencies and its label; empty when nothing is.
std::string_view check_kind(const TaskGraph& graph, const Task& task, int stream_count) {
  const bool on_group = task.kind != TaskKind::kCompute && task.kind != TaskKind::kSegment;
  if (on_group && task.dimension.index() >= graph.dimensions.size()) return "names no dimension";
  if (task.detail >= details_of(graph, task.kind)) return "its detail is out of range";
  if (task.stream != kNoStream && task.stream >= stream_count) return "its stream is out of range";
  if (is_message(task) && graph.messages[task.detail].channel >= kChannels) return "its channel is out of range";
  if (task.kind != TaskKind::kSegment) return {};
  if (task.stream != kComputeStream) return "calls a segment away from the compute stream";
  if (task.dependency_count != graph.segments[task.detail].call_dependencies) {
    return "has other dependencies than its segment takes";
  }
  return {};
}

// Recognises sound tasks, which nearly all of millions are, with few comparisons; check_task() examines the others.
class SoundTasks {
 public:
  explicit SoundTasks(const TaskGraph& graph) : graph_(graph), labels_(graph.labels.size()) {
    const bool channels_exist = std::ranges::all_of(
        graph.messages, [](std::uint8_t channel) { return channel < kChannels; }, &MessageSpec::channel);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const auto of = static_cast<TaskKind>(kind);
      details_[kind] = details_of(graph, of);
      const bool on_group = of != TaskKind::kCompute && of != TaskKind::kSegment;
      dimensions_[kind] = !on_group ? kAnyDimension : (channels_exist ? graph.dimensions.size() : 0);
    }
  }

  // The first task of the program from this one on that it does not recognise; the end if there is none.
  [[nodiscard]] std::size_t first_unsound(const Program& program, std::size_t index) const {
    const std::span<const Task> tasks = program.tasks;
    const std::span<const std::uint32_t> dependencies = program.dependencies;
    for (; index < tasks.size(); ++index) {
      const Task& task = tasks[index];
      const std::size_t end = std::size_t{task.first_dependency} + task.dependency_count;
      const auto kind = static_cast<std::size_t>(task.kind);
      if (kind >= kKinds || task.label >= labels_ || end > dependencies.size()) return index;
      if (task.detail >= details_[kind] || task.dimension.index() >= dimensions_[kind]) return index;
      if (task.stream != kNoStream && task.stream >= program.stream_count) return index;
      for (std::size_t d = task.first_dependency; d < end; ++d) {
        if (dependencies[d] >= index) return index;
      }
      if (task.kind == TaskKind::kSegment && !is_called_right(task)) return index;
    }
    return index;
  }

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(TaskKind::kSegment) + 1;
  static constexpr std::size_t kAnyDimension = ~std::size_t{0};

  [[nodiscard]] bool is_called_right(const Task& task) const {
    return task.dependency_count == graph_.segments[task.detail].call_dependencies && task.stream == kComputeStream;
  }

  const TaskGraph& graph_;
  std::size_t labels_;
  std::array<std::size_t, kKinds> details_{};     // by kind
  std::array<std::size_t, kKinds> dimensions_{};  // by kind: above all that a task may name
};

std::string check_task(const TaskGraph& graph, const Program& program, std::size_t index) {
  const Task& task = program.tasks[index];
  const auto complain = [&](std::string_view what) {
    return fmt::format("program '{}', task {}: {}", program.name, index, what);
  };
  if (const std::string_view problem = check_kind(graph, task, program.stream_count); !problem.empty()) {
    return complain(problem);
  }
  if (task.label >= graph.labels.size()) return complain("its label is out of range");
  const std::size_t end = std::size_t{task.first_dependency} + task.dependency_count;
  if (end > program.dependencies.size()) return complain("its dependencies are out of range");
  for (std::size_t d = task.first_dependency; d < end; ++d) {
    if (program.dependencies[d] >= index) return complain("depends on a task that does not come before it");
  }
  return {};
}

std::string check_segment(const TaskGraph& graph, std::size_t number) {
  const Segment& segment = graph.segments[number];
  const std::size_t size = segment.tasks.size();
  const auto complain = [&](std::size_t index, std::string_view what) {
    return fmt::format("segment {}, task {}: {}", number, index, what);
  };
  if (size == 0 || segment.tasks.back().stream != kComputeStream)
    return complain(0, "it does not end on the compute stream");
  for (std::size_t index = 0; index < size; ++index) {
    const Task& task = segment.tasks[index];
    if (task.kind == TaskKind::kSegment) return complain(index, "calls a segment");
    if (const std::string_view problem = check_kind(graph, task, kNoStream); !problem.empty()) {
      return complain(index, problem);
    }
    const bool labelled = task.label < graph.labels.size() || task.label == kCallersLabel;
    if (!labelled) return complain(index, "its label is out of range");
    const std::size_t end = std::size_t{task.first_dependency} + task.dependency_count;
    if (end > segment.dependencies.size()) return complain(index, "its dependencies are out of range");
    for (std::size_t d = task.first_dependency; d < end; ++d) {
      const std::uint32_t before = segment.dependencies[d];
      if (before < index || (before >= size && before < size + segment.call_dependencies)) continue;
      return complain(index, "depends on a task that does not come before it");
    }
  }
  return {};
}

// Whether the groups hold every rank once, where it is said to be. Group by group, in the order of memory.
bool holds_each_once(const Dimension& dimension, std::size_t ranks) {
  std::size_t members = 0;
  for (std::size_t group = 0; group < dimension.groups.size(); ++group) {
    for (std::size_t index = 0; index < dimension.groups[group].size(); ++index) {
      const std::size_t rank = dimension.groups[group][index].index();
      if (rank >= ranks || dimension.group_of[rank] != group || dimension.index_in_group[rank] != index) return false;
    }
    members += dimension.groups[group].size();
  }
  return members == ranks;
}

std::string check_dimension(const Dimension& dimension, std::size_t ranks) {
  if (dimension.group_of.size() != ranks || dimension.index_in_group.size() != ranks) {
    return fmt::format("dimension '{}' does not cover all {} ranks", dimension.name, ranks);
  }
  if (holds_each_once(dimension, ranks)) return {};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t group = dimension.group_of[rank];
    const std::uint32_t index = dimension.index_in_group[rank];
    const bool sound = group < dimension.groups.size() && index < dimension.groups[group].size() &&
                       dimension.groups[group][index].index() == rank;
    if (!sound)
      return fmt::format("dimension '{}': rank {} is not at the index that its group gives", dimension.name, rank);
  }
  return {};
}

// The peers that the tasks of each program name, each once.
std::vector<std::set<std::pair<DimensionId, int>>> named_peers(const TaskGraph& graph) {
  std::vector<std::set<std::pair<DimensionId, int>>> peers;
  for (const Program& program : graph.programs) {
    auto& named = peers.emplace_back();
    visit_communications(graph, program, [&](const Task& task) {
      if (is_message(task)) named.emplace(task.dimension, graph.messages[task.detail].peer);
    });
  }
  return peers;
}

std::string check_peers(const TaskGraph& graph) {
  std::vector<std::vector<std::pair<DimensionId, int>>> peers;
  for (const auto& named : named_peers(graph)) peers.emplace_back(named.begin(), named.end());
  for (std::size_t rank = 0; rank < graph.rank_count(); ++rank) {
    for (const auto& [dimension_id, peer] : peers[graph.program_of[rank].index()]) {
      const Dimension& dimension = graph.dimensions[dimension_id.index()];
      const auto members = dimension.groups[dimension.group_of[rank]].size();
      if (peer < 0 || static_cast<std::size_t>(peer) >= members) {
        return fmt::format("rank {} names peer {} in a group of {} ('{}')", rank, peer, members, dimension.name);
      }
    }
  }
  return {};
}

std::string check_programs(const TaskGraph& graph) {
  for (std::size_t segment = 0; segment < graph.segments.size(); ++segment) {
    if (std::string problem = check_segment(graph, segment); !problem.empty()) return problem;
  }
  const SoundTasks sound(graph);
  for (const Program& program : graph.programs) {
    for (std::size_t index = 0; (index = sound.first_unsound(program, index)) < program.tasks.size(); ++index) {
      if (std::string problem = check_task(graph, program, index); !problem.empty()) return problem;
    }
  }
  for (const Program& program : graph.programs) {
    const bool goes_round = program.loop.size > 0 && program.loop.cycles > 0;
    if (program.loop.end() > program.tasks.size() || (graph.cycles_left_out > 0 && !goes_round)) {
      return fmt::format("{}: its loop is not among its tasks", program.name);
    }
  }
  for (std::size_t rank = 0; rank < graph.rank_count(); ++rank) {
    if (graph.program_of[rank].index() >= graph.programs.size()) return fmt::format("rank {} has no program", rank);
  }
  return {};
}

// By host; empty where all are of kind 0 and have every NIC. Within one host only its kind counts.
std::vector<int> nic_sets_of(const GroupLayout& layout, const std::vector<RankId>& group,
                             const std::vector<RankPosition>& place_of_rank) {
  std::vector<int> sets;
  for (const std::vector<int>& members : layout.hosts) {
    sets.push_back(place_of_rank[group[static_cast<std::size_t>(members.front())].index()].nic_set);
  }
  if (sets.size() == 1) sets.front() = kind_of_host(sets.front()) * kNicSetsOfKind;
  if (std::ranges::all_of(sets, [](int set) { return set == 0; })) sets.clear();
  return sets;
}

std::vector<LostNics> lost_nics_of(const GroupLayout& layout, const std::vector<RankId>& group,
                                   const std::vector<RankPosition>& place_of_rank) {
  std::vector<LostNics> lost;
  for (int host = 0; host < layout.host_count(); ++host) {
    const int member = layout.hosts[static_cast<std::size_t>(host)].front();
    const RankPosition& place = place_of_rank[group[static_cast<std::size_t>(member)].index()];
    if (place.nics_lost != 0) lost.push_back({.host = host, .lost = place.nics_lost, .of = place.nics});
  }
  return lost;
}

}  // namespace

std::string check_task_graph(const TaskGraph& graph) {
  for (const Dimension& dimension : graph.dimensions) {
    if (std::string problem = check_dimension(dimension, graph.rank_count()); !problem.empty()) return problem;
  }
  if (std::string problem = check_programs(graph); !problem.empty()) return problem;
  if (std::string problem = check_peers(graph); !problem.empty()) return problem;
  for (const BackgroundTransfer& transfer : graph.background) {
    if (transfer.from.index() < graph.rank_count() && transfer.to.index() < graph.rank_count() &&
        transfer.from != transfer.to && transfer.repeats > 0) {
      continue;
    }
    return fmt::format("background traffic from rank {} to rank {} among {} ranks", transfer.from.value,
                       transfer.to.value, graph.rank_count());
  }
  return {};
}

void index_groups(Dimension& dimension, std::size_t rank_count) {
  dimension.group_of.assign(rank_count, 0);
  dimension.index_in_group.assign(rank_count, 0);
  for (std::size_t group = 0; group < dimension.groups.size(); ++group) {
    for (std::size_t index = 0; index < dimension.groups[group].size(); ++index) {
      const std::size_t rank = dimension.groups[group][index].index();
      dimension.group_of[rank] = static_cast<std::uint32_t>(group);
      dimension.index_in_group[rank] = static_cast<std::uint32_t>(index);
    }
  }
}

Dimension world_dimension(std::string name, std::size_t rank_count) {
  Dimension dimension;
  dimension.name = std::move(name);
  std::vector<RankId>& all = dimension.groups.emplace_back();
  for (std::size_t rank = 0; rank < rank_count; ++rank) all.emplace_back(rank);
  index_groups(dimension, rank_count);
  return dimension;
}

bool are_groups_laid_out(const TaskGraph& graph) {
  return graph.layouts.size() > 0 && std::ranges::all_of(graph.dimensions, [](const Dimension& dimension) {
           return dimension.layout_of_group.size() == dimension.groups.size();
         });
}

void lay_out_groups(TaskGraph& graph, const std::vector<RankPosition>& place_of_rank) {
  CHECK(place_of_rank.size() == graph.rank_count(), "one position per rank");
  // Shapes are few and groups many: key each shape by hosts (numbered in order of appearance), GPU positions, NICs and
  // parameter servers.
  std::map<std::tuple<std::vector<int>, std::vector<int>, std::vector<int>, ParameterServers, std::vector<LostNics>>,
           std::uint32_t>
      known;
  // Most groups have the layout of another one, shifted by some hosts: detected without numbering their hosts.
  std::map<std::vector<std::int64_t>, std::uint32_t> moved;
  std::vector<std::int64_t> host;
  std::vector<int> gpu;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> offsets_before;  // of the group before, usually the same
  std::vector<GroupLayout> layouts;
  for (Dimension& dimension : graph.dimensions) {
    dimension.layout_of_group.clear();
    dimension.layout_of_group.reserve(dimension.groups.size());
    offsets_before.clear();
    for (const std::vector<RankId>& group : dimension.groups) {
      offsets.resize(2 * group.size());
      const std::int64_t first = place_of_rank[group.front().index()].host;
      for (std::size_t i = 0; i < group.size(); ++i) {
        const RankPosition& place = place_of_rank[group[i].index()];
        offsets[2 * i] = place.host - first;
        offsets[2 * i + 1] = place.gpu + (std::int64_t{place.nics_lost} << 16) + (std::int64_t{place.nic_set} << 32);
      }
      offsets.push_back(dimension.servers.count);
      offsets.push_back(dimension.servers.dedicated ? 1 : 0);
      if (offsets == offsets_before) {
        dimension.layout_of_group.push_back(dimension.layout_of_group.back());
        continue;
      }
      std::swap(offsets_before, offsets);
      if (const auto same = moved.find(offsets_before); same != moved.end()) {
        dimension.layout_of_group.push_back(same->second);
        continue;
      }
      host.clear();
      gpu.clear();
      for (const RankId rank : group) {
        host.push_back(place_of_rank[rank.index()].host);
        gpu.push_back(place_of_rank[rank.index()].gpu);
      }
      GroupLayout layout = make_group_layout(host, gpu);
      layout.nic_set = nic_sets_of(layout, group, place_of_rank);
      layout.servers = dimension.servers;
      layout.lost_nics = lost_nics_of(layout, group, place_of_rank);
      const auto next = static_cast<std::uint32_t>(layouts.size());
      const auto [entry, is_new] =
          known.try_emplace({layout.host_of, layout.gpu_of, layout.nic_set, layout.servers, layout.lost_nics}, next);
      if (is_new) layouts.push_back(std::move(layout));
      dimension.layout_of_group.push_back(entry->second);
      moved.emplace(offsets_before, entry->second);
    }
  }
  graph.layouts = GroupLayouts(std::move(layouts));
}

std::vector<bool> background_behind_job(const TaskGraph& graph) {
  std::vector<bool> behind;
  for (const BackgroundTransfer& transfer : graph.background)
    behind.push_back(transfer.importance == Importance::kYields);
  const auto count = static_cast<std::size_t>(std::ranges::count(behind, true));
  if (count == 0 || count > kMostBehindJob) return {};
  if (std::ranges::find(graph.messages, Importance::kYields, &MessageSpec::importance) != graph.messages.end())
    return {};
  return behind;
}

}  // namespace ringwright
