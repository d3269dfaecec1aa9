#include "core/symmetry/footprint.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "core/base/random.h"

namespace ringwright {
namespace {

using CollectiveContent = std::pair<CollectiveKind, Bytes>;
// (dimension, is a send, peer, bytes, channel, way)
using MessageContent = std::tuple<DimensionId, bool, int, Bytes, std::uint8_t, HostWay>;

// An edge before it is known which ranks are meant: members are named by index in the group.
struct MemberEdge {
  int peer = 0;
  Reach reach = Reach::kWhole;
  bool starts_flow = false;
  std::uint64_t role = 0;
};

struct MemberPattern {
  std::vector<std::vector<MemberEdge>> edges;  // by member
  bool everyone = false;
  bool only_meets = false;  // everybody waits for everybody, and nobody sends
};

// What distinguishes edges of one member, and the role gathered so far.
class EdgeCollector {
 public:
  void add(int peer, Reach reach, bool starts_flow, std::uint64_t what) {
    std::uint64_t& role = roles_[{peer, reach, starts_flow}];
    role = mix(role, what);
  }
  [[nodiscard]] std::vector<MemberEdge> edges() const {
    std::vector<MemberEdge> result;
    for (const auto& [key, role] : roles_) {
      const auto& [peer, reach, starts_flow] = key;
      const auto kind = mix(static_cast<std::uint64_t>(reach), starts_flow ? 1 : 0);
      result.push_back({.peer = peer, .reach = reach, .starts_flow = starts_flow, .role = mix(role, kind)});
    }
    return result;
  }

 private:
  std::map<std::tuple<int, Reach, bool>, std::uint64_t> roles_;
};

// Walks all steps of one member. Returns whether any step waits for everyone.
bool collect_member(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, int member,
                    EdgeCollector& collector) {
  bool everyone = false;
  CollectiveStep step;
  const int steps = algorithm.steps(call);
  for (int index = 0; index < steps; ++index) {
    algorithm.step(call, member, index, step);
    everyone = everyone || step.await_everyone;
    const std::uint64_t salt = splitmix64(static_cast<std::uint64_t>(index));
    for (std::size_t j = 0; j < step.sends.size(); ++j) {
      const CollectiveSend& send = step.sends[j];
      collector.add(send.peer, send.reach, true, mix(salt + j, static_cast<std::uint64_t>(send.size.count())));
    }
    for (const CollectiveAwait& await : step.awaits) {
      collector.add(await.peer, Reach::kWhole, false, salt + static_cast<std::uint64_t>(await.send));
    }
  }
  return everyone;
}

// The edges of every member in one call.
MemberPattern make_call_pattern(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  const int size = call.size();
  const bool symmetric = algorithm.rotation_symmetric(call);
  MemberPattern pattern;
  for (int member = 0; member < (symmetric ? 1 : size); ++member) {
    EdgeCollector collector;
    pattern.everyone = collect_member(algorithm, call, member, collector) || pattern.everyone;
    pattern.edges.push_back(collector.edges());
  }
  for (int member = 1; symmetric && member < size; ++member) {
    pattern.edges.push_back(pattern.edges.front());
    for (MemberEdge& edge : pattern.edges.back()) edge.peer = (edge.peer + member) % size;
  }
  return pattern;
}

// All collectives that a program calls in one dimension, for a group of the given layout.
MemberPattern make_pattern(const CollectiveChooser& chooser, DimensionId dimension, const GroupLayout& layout,
                           const std::set<CollectiveContent>& contents) {
  std::vector<EdgeCollector> collectors(static_cast<std::size_t>(layout.size()));
  MemberPattern pattern;
  for (const auto& [kind, bytes] : contents) {
    const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout, .dimension = dimension};
    const MemberPattern of_call = make_call_pattern(chooser.choose(call), call);
    const std::uint64_t salt = mix(dimension.value, static_cast<std::uint64_t>(bytes.count())) +
                               static_cast<std::uint64_t>(kind);
    pattern.everyone = pattern.everyone || of_call.everyone;
    for (std::size_t member = 0; member < collectors.size(); ++member) {
      for (const MemberEdge& edge : of_call.edges[member]) {
        collectors[member].add(edge.peer, edge.reach, edge.starts_flow, mix(salt, edge.role));
      }
    }
  }
  for (const EdgeCollector& collector : collectors) pattern.edges.push_back(collector.edges());
  pattern.only_meets = pattern.everyone && std::ranges::all_of(pattern.edges, [](const auto& e) { return e.empty(); });
  return pattern;
}

// What a program does with others. By content: a table may hold equal entries twice.
struct ProgramTraffic {
  std::map<DimensionId, std::set<CollectiveContent>> collectives;
  std::set<MessageContent> messages;
};

std::vector<ProgramTraffic> gather_traffic(const TaskGraph& graph) {
  std::vector<ProgramTraffic> result;
  for (const Program& program : graph.programs) {
    ProgramTraffic traffic;
    for (const Task& task : program.tasks) {
      if (task.kind == TaskKind::kCompute) continue;
      if (task.kind == TaskKind::kCollective) {
        const CollectiveSpec& spec = graph.collectives[task.detail];
        traffic.collectives[task.dimension].insert({spec.kind, spec.bytes});
        continue;
      }
      const MessageSpec& spec = graph.messages[task.detail];
      traffic.messages.insert({task.dimension, task.kind == TaskKind::kSend, spec.peer, spec.bytes, spec.channel,
                               spec.way});
    }
    result.push_back(std::move(traffic));
  }
  return result;
}

class FootprintBuilder {
 public:
  FootprintBuilder(const TaskGraph& graph, const CollectiveChooser& chooser)
      : graph_(graph), chooser_(chooser), traffic_(gather_traffic(graph)) {}

  Footprint build() {
    for (std::uint32_t index = 0; index < graph_.background.size(); ++index) {
      const BackgroundTransfer& transfer = graph_.background[index];
      background_[transfer.from].push_back(index);
      background_[transfer.to].push_back(index);
    }
    std::uint64_t edges = 0;
    for (std::size_t rank = 0; rank < graph_.rank_count(); ++rank) edges += count_edges(RankId(rank));
    footprint_.edges.reserve(edges);  // gigabytes for a million ranks, which growing would copy
    footprint_.first_edge.reserve(graph_.rank_count() + 1);
    footprint_.colour.reserve(graph_.rank_count());
    footprint_.first_edge.push_back(0);
    for (std::size_t rank = 0; rank < graph_.rank_count(); ++rank) {
      add_rank(RankId(rank));
      footprint_.first_edge.push_back(footprint_.edges.size());
    }
    footprint_.everyone.assign(everyone_.begin(), everyone_.end());
    return std::move(footprint_);
  }

 private:
  void add_rank(RankId rank) {
    const ProgramId program = graph_.program_of[rank.index()];
    std::uint64_t colour = splitmix64(program.value);
    if (!graph_.compute_slowdown.empty()) {
      colour = mix(colour, std::bit_cast<std::uint64_t>(graph_.compute_slowdown[rank.index()]));
    }
    const ProgramTraffic& traffic = traffic_[program.index()];
    for (const auto& [dimension, contents] : traffic.collectives) {
      add_collectives(rank, program, dimension, contents);
      // Where members meet without messages, nothing but the layout says how long that takes.
      const Dimension& d = graph_.dimensions[dimension.index()];
      if (pattern_of(rank, program, dimension, contents).only_meets) {
        colour = mix(colour, mix(dimension.value, d.layout_of_group[d.group_of[rank.index()]]));
      }
    }
    for (const MessageContent& message : traffic.messages) {
      // A message's receiver knows it by the sender's name for the receiver: its place in the group.
      const Dimension& dimension = graph_.dimensions[std::get<DimensionId>(message).index()];
      colour = mix(colour, dimension.index_in_group[rank.index()]);
      add_message(rank, message);
    }
    const auto background = background_.find(rank);
    if (background != background_.end()) {
      for (const std::uint32_t index : background->second) add_background(rank, index);
    }
    footprint_.colour.push_back(colour);
  }

  void add_background(RankId rank, std::uint32_t index) {
    const BackgroundTransfer& transfer = graph_.background[index];
    const bool sends = transfer.from == rank;
    const std::uint64_t size = mix(static_cast<std::uint64_t>(transfer.size.count()), transfer.repeats);
    const std::uint64_t when = mix(static_cast<std::uint64_t>(transfer.at.since_start().count()),
                                   static_cast<std::uint64_t>(transfer.importance));
    footprint_.edges.push_back({.peer = sends ? transfer.to : transfer.from,
                                .role = mix(mix(size, when), sends ? 1 : 0),
                                .label = background_label(index),
                                .starts_flow = sends});
  }

  [[nodiscard]] std::uint64_t count_edges(RankId rank) {
    const ProgramId program = graph_.program_of[rank.index()];
    const ProgramTraffic& traffic = traffic_[program.index()];
    std::uint64_t edges = traffic.messages.size();
    if (const auto background = background_.find(rank); background != background_.end()) edges += background->second.size();
    for (const auto& [dimension, contents] : traffic.collectives) {
      const std::uint32_t member = graph_.dimensions[dimension.index()].index_in_group[rank.index()];
      edges += pattern_of(rank, program, dimension, contents).edges[member].size();
    }
    return edges;
  }

  const MemberPattern& pattern_of(RankId rank, ProgramId program, DimensionId dimension,
                                  const std::set<CollectiveContent>& contents) {
    const Dimension& d = graph_.dimensions[dimension.index()];
    const std::uint32_t layout = d.layout_of_group[d.group_of[rank.index()]];
    const auto key = std::tuple(program, dimension, layout);
    auto known = patterns_.find(key);
    if (known == patterns_.end()) {
      known = patterns_.emplace(key, make_pattern(chooser_, dimension, graph_.layouts[layout], contents)).first;
      if (known->second.everyone) everyone_.insert(dimension);
    }
    return known->second;
  }

  void add_collectives(RankId rank, ProgramId program, DimensionId dimension, const std::set<CollectiveContent>& contents) {
    const Dimension& d = graph_.dimensions[dimension.index()];
    const std::uint32_t group = d.group_of[rank.index()];
    const MemberPattern& pattern = pattern_of(rank, program, dimension, contents);
    for (const MemberEdge& edge : pattern.edges[d.index_in_group[rank.index()]]) {
      footprint_.edges.push_back({.peer = d.groups[group][static_cast<std::size_t>(edge.peer)],
                                  .role = edge.role,
                                  .label = collective_label(dimension),
                                  .reach = edge.reach,
                                  .starts_flow = edge.starts_flow});
    }
  }

  void add_message(RankId rank, const MessageContent& message) {
    const auto& [dimension, is_send, peer, bytes, channel, way] = message;
    const Dimension& d = graph_.dimensions[dimension.index()];
    const std::uint32_t label = message_label(dimension, channel);
    const std::uint64_t what = mix(mix(label, static_cast<std::uint64_t>(way)), static_cast<std::uint64_t>(bytes.count()));
    const auto& group = d.groups[d.group_of[rank.index()]];
    footprint_.edges.push_back({.peer = group[static_cast<std::size_t>(peer)],
                                .role = mix(what, mix(static_cast<std::uint64_t>(peer), is_send ? 1 : 0)),
                                .label = label,
                                .reach = reach_of(way),
                                .starts_flow = is_send});
  }

  const TaskGraph& graph_;
  const CollectiveChooser& chooser_;
  std::vector<ProgramTraffic> traffic_;  // by program
  std::map<std::tuple<ProgramId, DimensionId, std::uint32_t>, MemberPattern> patterns_;
  std::set<DimensionId> everyone_;
  std::map<RankId, std::vector<std::uint32_t>> background_;  // by rank: transfers from or to it
  Footprint footprint_;
};

}  // namespace

Footprint make_footprint(const TaskGraph& graph, const CollectiveChooser& chooser) {
  return FootprintBuilder(graph, chooser).build();
}

}  // namespace ringwright
