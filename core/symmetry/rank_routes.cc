#include "core/symmetry/rank_routes.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

namespace ringwright {

RankRoutes::RankRoutes(const TaskGraph& graph, const Traffic& traffic, const CallOverhead* overhead)
    : program_of_(graph.program_of), slowdown_(graph.compute_slowdown) {
  for (const Dimension& dimension : graph.dimensions) {
    dimensions_.push_back({.group_of = dimension.group_of,
                           .index_in_group = dimension.index_in_group,
                           .layout_of_group = dimension.layout_of_group});
  }
  for (std::size_t layout = 0; layout < graph.layouts.size(); ++layout) group_layouts_.push_back(graph.layouts[layout]);
  for (const ProgramTraffic& of_program : traffic.of_program) routes_.push_back(routes_of(of_program, traffic));
  find_layouts(graph);
  for (const ProgramRoutes& routes : routes_) senders_.emplace_back(routes.messages.size());
  if (overhead != nullptr) find_senders(graph, traffic, *overhead);
}

RankRoutes::ProgramRoutes RankRoutes::routes_of(const ProgramTraffic& traffic, const Traffic& all) {
  ProgramRoutes routes;
  for (const std::size_t calls : traffic.calls) routes.calls.push_back(all.calls[calls].first);
  for (const ProgramMessage& message : traffic.messages) {
    const MessageContent& content = message.content;
    routes.messages.push_back({.dimension = content.dimension,
                               .is_send = content.is_send,
                               .by_library = content.by_library(),
                               .relative = content.relative,
                               .peer = content.peer});
  }
  return routes;
}

bool RankRoutes::are_of(const TaskGraph& graph, const Traffic& traffic) const {
  const auto equal_bits = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  if (routes_.size() != traffic.of_program.size() || group_layouts_.size() != graph.layouts.size()) return false;
  for (std::size_t program = 0; program < routes_.size(); ++program) {
    if (routes_[program] != routes_of(traffic.of_program[program], traffic)) return false;
  }
  for (std::size_t layout = 0; layout < group_layouts_.size(); ++layout) {
    if (group_layouts_[layout] != graph.layouts[layout]) return false;
  }
  return program_of_ == graph.program_of && std::ranges::equal(slowdown_, graph.compute_slowdown, equal_bits) &&
         std::ranges::equal(dimensions_, graph.dimensions, &Groups::are_of);
}

void RankRoutes::find_layouts(const TaskGraph& graph) {
  for (const ProgramRoutes& routes : routes_) layouts_.emplace_back(routes.calls.size());
  for (std::size_t rank = 0; rank < program_of_.size(); ++rank) {
    const std::size_t program = program_of_[rank].index();
    for (std::size_t calls = 0; calls < layouts_[program].size(); ++calls) {
      const Dimension& d = graph.dimensions[routes_[program].calls[calls].index()];
      const std::uint32_t layout = d.layout_of_group[d.group_of[rank]];
      std::vector<std::uint32_t>& known = layouts_[program][calls];
      if (std::ranges::find(known, layout) == known.end()) known.push_back(layout);
    }
  }
}

void RankRoutes::find_senders(const TaskGraph& graph, const Traffic& traffic, const CallOverhead& overhead) {
  std::vector<std::vector<std::unordered_set<std::uint64_t>>> seen;
  for (const ProgramRoutes& routes : routes_) seen.emplace_back(routes.messages.size());
  for (std::size_t rank = 0; rank < program_of_.size(); ++rank) {
    const std::size_t program = program_of_[rank].index();
    for (std::size_t m = 0; m < seen[program].size(); ++m) {
      const Route& route = routes_[program].messages[m];
      if (!route.is_send || !route.by_library) continue;
      const MessageBetween message =
          message_of(graph, RankId(rank), traffic.of_program[program].messages[m].content);
      if (seen[program][m].insert(overhead.ends(message)).second) senders_[program][m].emplace_back(rank);
    }
  }
}

MessageBetween message_of(const TaskGraph& graph, RankId sender, const MessageContent& message) {
  const Dimension& d = graph.dimensions[message.dimension.index()];
  const std::uint32_t number = d.group_of[sender.index()];
  const std::vector<RankId>& group = d.groups[number];
  const int from = static_cast<int>(d.index_in_group[sender.index()]);
  const int to = MessageSpec{.peer = message.peer, .relative = message.relative}.peer_of(from, group.size());
  return {.call = {.bytes = message.bytes,
                   .layout = &graph.layouts[d.layout_of_group[number]],
                   .from = from,
                   .to = to,
                   .dimension = message.dimension},
          .sender = sender,
          .receiver = group[static_cast<std::size_t>(to)]};
}

}  // namespace ringwright
