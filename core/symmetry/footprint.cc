#include "core/symmetry/footprint.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/ports/network_model.h"
#include "core/symmetry/edge_kinds.h"
#include "core/symmetry/pattern_table.h"
#include "core/symmetry/rank_routes.h"
#include "core/symmetry/traffic.h"

namespace ringwright {
namespace {

constexpr std::uint64_t kOnOneGpu = 0x1b873593cc9e2d51;  // a role, random

class FootprintBuilder {
 public:
  FootprintBuilder(const TaskGraph& graph, const Choosers& choosers)
      : graph_(graph),
        choosers_(choosers),
        traffic_(gather_traffic(graph)),
        patterns_(graph_, choosers_, traffic_.calls) {}

  Footprint build() {
    const std::vector<bool> behind_job = background_behind_job(graph_);
    for (std::uint32_t index = 0; index < graph_.background.size(); ++index) {
      if (!behind_job.empty() && behind_job[index]) continue;
      const BackgroundTransfer& transfer = graph_.background[index];
      background_[transfer.from].push_back(index);
      background_[transfer.to].push_back(index);
    }
    for (std::size_t rank = 0; rank < graph_.sharing.gpu_of_rank.size(); ++rank) {
      tenants_[graph_.sharing.gpu_of(RankId(rank))].emplace_back(rank);
    }
    // Gigabytes for a million ranks, which a growing vector would copy.
    constexpr std::size_t kManyRanks = std::size_t{1} << 14U;
    std::uint64_t edges = 0;
    for (std::size_t rank = 0; rank < graph_.rank_count() && graph_.rank_count() >= kManyRanks; ++rank) {
      edges += count_edges(RankId(rank));
    }
    footprint_.edges.reserve(edges);
    footprint_.first_edge.reserve(graph_.rank_count() + 1);
    footprint_.colour.reserve(graph_.rank_count());
    footprint_.first_edge.push_back(0);
    for (std::size_t rank = 0; rank < graph_.rank_count(); ++rank) {
      add_rank(RankId(rank));
      footprint_.first_edge.push_back(footprint_.edges.size());
    }
    footprint_.everyone.assign(patterns_.everyone().begin(), patterns_.everyone().end());
    footprint_.kinds = kinds_.take();
    return std::move(footprint_);
  }

 private:
  void add_rank(RankId rank) {
    const ProgramId program = graph_.program_of[rank.index()];
    const ProgramTraffic& traffic = traffic_.of_program[program.index()];
    traits_.clear();
    if (!graph_.compute_slowdown.empty()) {
      traits_.push_back(std::bit_cast<std::uint64_t>(graph_.compute_slowdown[rank.index()]));
    }
    for (const std::size_t calls : traffic.calls) {
      const DimensionId dimension = traffic_.calls[calls].first;
      const KindPattern& edges = patterns_.of(rank, calls, kinds_);
      const MemberPattern& pattern = edges.all;
      add_collectives(rank, dimension, edges);
      if (pattern.costs != 0) traits_.push_back(pattern.costs);
      // Where a call is a barrier without messages, a formula or its overhead gives its time; its layout where neither
      // is known.
      if (!pattern.only_meets) continue;
      const Dimension& d = graph_.dimensions[dimension.index()];
      traits_.push_back(dimension.value);
      const bool timed = choosers_.times != nullptr || choosers_.overhead != nullptr;
      traits_.push_back(timed ? pattern.pairing : d.layout_of_group[d.group_of[rank.index()]]);
    }
    for (const ProgramMessage& message : traffic.messages) {
      // A message's receiver identifies it by the sender's name for the receiver: its index in the group, or the
      // distance.
      const Dimension& dimension = graph_.dimensions[message.content.dimension.index()];
      if (!message.content.relative) traits_.push_back(dimension.index_in_group[rank.index()]);
      add_message(rank, message);
      add_message_costs(rank, message.content);
    }
    const auto background = background_.find(rank);
    if (background != background_.end()) {
      for (const std::uint32_t index : background->second) add_background(rank, index);
    }
    add_tenants(rank);
    footprint_.colour.push_back(colour_of(program));
  }

  // Processes on one GPU slow each other: of equal ranks, those that they meet there are equal.
  void add_tenants(RankId rank) {
    if (tenants_.empty()) return;
    for (const RankId other : tenants_[graph_.sharing.gpu_of(rank)]) {
      if (other != rank) add_edge(other, {.role = kOnOneGpu});
    }
  }

  // Of the current rank; nearly always that of the previous rank.
  [[nodiscard]] std::uint64_t colour_of(ProgramId program) {
    if (!footprint_.colour.empty() && program == last_program_ && traits_ == last_traits_) return last_colour_;
    last_program_ = program;
    last_traits_ = traits_;
    last_colour_ = splitmix64(program.value);
    for (const std::uint64_t trait : traits_) last_colour_ = mix(last_colour_, trait);
    return last_colour_;
  }

  void add_background(RankId rank, std::uint32_t index) {
    const BackgroundTransfer& transfer = graph_.background[index];
    const bool sends = transfer.from == rank;
    const std::uint64_t size = mix(static_cast<std::uint64_t>(transfer.size.count()), transfer.repeats);
    const std::uint64_t when = mix(static_cast<std::uint64_t>(transfer.at.since_start().count()),
                                   static_cast<std::uint64_t>(transfer.importance));
    add_edge(sends ? transfer.to : transfer.from,
             {.role = mix(mix(size, when), sends ? 1 : 0), .label = background_label(index), .starts_flow = sends});
  }

  [[nodiscard]] std::uint64_t count_edges(RankId rank) {
    const ProgramId program = graph_.program_of[rank.index()];
    const ProgramTraffic& traffic = traffic_.of_program[program.index()];
    std::uint64_t edges = traffic.messages.size();
    if (!tenants_.empty()) edges += tenants_[graph_.sharing.gpu_of(rank)].size() - 1;
    if (const auto background = background_.find(rank); background != background_.end())
      edges += background->second.size();
    for (const std::size_t calls : traffic.calls) {
      const DimensionId dimension = traffic_.calls[calls].first;
      const std::uint32_t member = graph_.dimensions[dimension.index()].index_in_group[rank.index()];
      edges += patterns_.of(rank, calls, kinds_).edges[member].size();
    }
    return edges;
  }

  void add_edge(RankId peer, const EdgeKind& kind) {
    footprint_.edges.push_back({.peer = peer, .kind = kinds_.index_of(kind)});
  }

  void add_collectives(RankId rank, DimensionId dimension, const KindPattern& pattern) {
    const Dimension& d = graph_.dimensions[dimension.index()];
    const std::vector<RankId>& group = d.groups[d.group_of[rank.index()]];
    for (const KindPattern::Edge& edge : pattern.edges[d.index_in_group[rank.index()]])
      footprint_.edges.push_back({.peer = group[static_cast<std::size_t>(edge.peer)], .kind = edge.kind});
  }

  void add_message(RankId rank, const ProgramMessage& message) {
    const auto& [dimension, is_send, peer, relative, bytes, channel, path, moved_by, importance] = message.content;
    const Dimension& d = graph_.dimensions[dimension.index()];
    const int self = static_cast<int>(d.index_in_group[rank.index()]);
    const auto& group = d.groups[d.group_of[rank.index()]];
    const MessageSpec spec{.peer = peer, .relative = relative};
    const int member = spec.peer_of(self, group.size());
    const bool sent_by_library = is_send && message.content.by_library();
    const RouteKind route_kind =
        sent_by_library ? route_kind_of_send(d, rank, bytes, member) : route_kind_of(path);
    add_edge(group[static_cast<std::size_t>(member)], {.role = role_of(d, rank, message),
                                                       .label = message.label,
                                                       .route_kind = route_kind,
                                                       .starts_flow = is_send});
  }

  // The ports' costs of a message depend on the positions of both its ends, and on more paths between them than the
  // message itself takes.
  void add_message_costs(RankId rank, const MessageContent& message) {
    if (choosers_.overhead == nullptr && choosers_.contention == nullptr) return;
    const auto& [dimension, is_send, peer, relative, bytes, channel, path, moved_by, importance] = message;
    const MessageSpec spec{
        .peer = peer, .bytes = bytes, .channel = channel, .path = path, .relative = relative, .moved_by = moved_by};
    if (choosers_.contention != nullptr) traits_.push_back(hash_of(choosers_.contention->of(spec, dimension, rank)));
    if (choosers_.overhead == nullptr || !is_send || !message.by_library()) return;
    traits_.push_back(
        static_cast<std::uint64_t>(choosers_.overhead->of(message_of(graph_, rank, message)).count()));
  }

  // On channels, these and the protocol follow from the group's layout, and from whether the message leaves the host.
  [[nodiscard]] std::uint64_t role_of(const Dimension& d, RankId rank, const ProgramMessage& message) const {
    if (choosers_.channels == nullptr || !message.content.by_library()) return message.role;
    const std::uint32_t group = d.group_of[rank.index()];
    const std::uint32_t layout = d.layout_of_group[group];
    const int self = static_cast<int>(d.index_in_group[rank.index()]);
    const MessageSpec spec{.peer = message.content.peer, .relative = message.content.relative};
    const MessageCall call{.bytes = message.content.bytes,
                           .layout = &graph_.layouts[layout],
                           .from = self,
                           .to = spec.peer_of(self, d.groups[group].size())};
    return mix(mix(message.what, 2 * std::uint64_t{layout} + (call.leaves_host() ? 1 : 0)), message.ends);
  }

  // PXN where kernels send that way. Rarely called: most messages stay on their rail or in their host.
  [[nodiscard]] RouteKind route_kind_of_send(const Dimension& d, RankId rank, Bytes bytes, int to) const {
    if (choosers_.channels == nullptr) return RouteKind::kWhole;
    const GroupLayout& layout = graph_.layouts[d.layout_of_group[d.group_of[rank.index()]]];
    const MessageCall call{
        .bytes = bytes, .layout = &layout, .from = static_cast<int>(d.index_in_group[rank.index()]), .to = to};
    const auto rail = [&](int member) { return layout.gpu_of[static_cast<std::size_t>(member)]; };
    if (!call.leaves_host() || rail(call.from) == rail(to)) return RouteKind::kWhole;
    return choosers_.channels->choose_message(call).plan.pxn ? RouteKind::kPxn : RouteKind::kWhole;
  }

  const TaskGraph& graph_;
  Choosers choosers_;
  Traffic traffic_;
  PatternTable patterns_;
  std::map<RankId, std::vector<std::uint32_t>> background_;  // by rank: transfers from or to it
  std::map<RankId, std::vector<RankId>> tenants_;            // by GPU: the ranks on it; empty: each has its own
  std::vector<std::uint64_t> traits_;  // besides its program, the own properties of the current rank
  ProgramId last_program_;
  std::vector<std::uint64_t> last_traits_;
  std::uint64_t last_colour_ = 0;
  EdgeKinds kinds_;
  Footprint footprint_;
};

}  // namespace

Footprint make_footprint(const TaskGraph& graph, const Choosers& choosers) {
  return FootprintBuilder(graph, choosers).build();
}

}  // namespace ringwright
