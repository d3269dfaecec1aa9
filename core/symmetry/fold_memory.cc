#include "core/symmetry/fold_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/symmetry/edge_kinds.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/pattern_table.h"
#include "core/symmetry/traffic.h"

namespace ringwright {
namespace {

// Numbers names in order of first appearance.
class Numbering {
 public:
  std::uint64_t of(std::uint64_t name) { return number_of_.try_emplace(name, number_of_.size()).first->second; }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> number_of_;
};

// The low 16 bits are left free.
std::uint64_t in_one(const MessageNics& nics) {
  const auto bits = [](std::int16_t number) { return std::uint64_t{static_cast<std::uint16_t>(number)}; };
  return bits(nics.out) << 48U | bits(nics.in) << 32U | bits(nics.relay) << 16U;
}

// Not where ranks differ by more than their programs and groups, or where roles depend on the ends of a message.
bool are_covered(const TaskGraph& graph, const Choosers& choosers) {
  return choosers.channels == nullptr && choosers.contention == nullptr && graph.background.empty() &&
         !graph.sharing.on();
}

// All that the partition of a step's ranks depends on besides their programs, groups and routes.
class Likeness {
 public:
  Likeness(const TaskGraph& graph, const Traffic& traffic, const Choosers& choosers, const RankRoutes& ranks)
      : graph_(graph),
        traffic_(traffic),
        choosers_(choosers),
        ranks_(ranks),
        patterns_(graph, choosers, traffic.calls),
        layouts_seen_(traffic.calls.size() * graph.layouts.size(), false) {}

  std::vector<std::uint64_t> take() {
    for (std::size_t program = 0; program < traffic_.of_program.size(); ++program) {
      const ProgramTraffic& traffic = traffic_.of_program[program];
      for (std::size_t calls = 0; calls < traffic.calls.size(); ++calls) add_calls(program, calls);
      for (std::size_t message = 0; message < traffic.messages.size(); ++message) add_message(program, message);
    }
    for (const EdgeKind& kind : kinds_.take()) add_kind(kind);
    for (const DimensionId dimension : patterns_.everyone()) numbers_.push_back(dimension.value);
    return std::move(numbers_);
  }

 private:
  void add_calls(std::size_t program, std::size_t number) {
    const std::size_t calls = traffic_.of_program[program].calls[number];
    Numbering costs;
    Numbering pairings;
    for (const std::uint32_t layout : ranks_.layouts(program, number)) {
      const KindPattern& pattern = patterns_.of_layout(layout, calls, kinds_);
      const MemberPattern& all = pattern.all;
      const bool alone = std::ranges::all_of(pattern.edges, [](const auto& edges) { return edges.empty(); });
      numbers_.push_back((all.everyone ? 1U : 0U) + (all.only_meets ? 2U : 0U) + (all.costs != 0 ? 4U : 0U) +
                         (alone ? 8U : 0U));
      numbers_.push_back(costs.of(all.costs));
      numbers_.push_back(pairings.of(all.pairing));
      if (alone) continue;
      numbers_.push_back(calls);
      std::vector<bool>::reference seen = layouts_seen_[calls * graph_.layouts.size() + layout];
      if (!seen) add_edges(pattern);
      seen = true;
    }
  }

  void add_edges(const KindPattern& pattern) {
    for (const std::vector<KindPattern::Edge>& edges : pattern.edges) {
      numbers_.push_back(edges.size());
      for (const KindPattern::Edge& edge : edges) {
        numbers_.push_back((static_cast<std::uint64_t>(edge.peer) << 32U) | edge.kind);
      }
    }
  }

  void add_message(std::size_t program, std::size_t number) {
    const ProgramMessage& message = traffic_.of_program[program].messages[number];
    numbers_.push_back(kinds_.index_of({.role = message.role,
                                        .label = message.label,
                                        .route_kind = route_kind_of(message.content.path),
                                        .starts_flow = message.content.is_send}));
    Numbering costs;
    for (const RankId sender : ranks_.senders(program, number)) {
      const Duration cost = choosers_.overhead->of(message_of(graph_, sender, message.content));
      numbers_.push_back(costs.of(static_cast<std::uint64_t>(cost.count())));
    }
  }

  void add_kind(const EdgeKind& kind) {
    numbers_.push_back(roles_.of(kind.role));
    numbers_.push_back((std::uint64_t{kind.shared_in} << 32U) | kind.label);
    numbers_.push_back(in_one(kind.nics) |
                       (4 * static_cast<std::uint64_t>(kind.route_kind) + (kind.loads_links ? 2 : 0) +
                        (kind.starts_flow ? 1 : 0)));
  }

  const TaskGraph& graph_;
  const Traffic& traffic_;
  const Choosers& choosers_;
  const RankRoutes& ranks_;
  PatternTable patterns_;
  EdgeKinds kinds_;
  Numbering roles_;
  std::vector<bool> layouts_seen_;  // by calls and layout: whether their edges are among the numbers
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

std::size_t FoldMemory::size() const {
  std::size_t size = 0;
  for (const OfRanks& of_ranks : of_ranks_) size += of_ranks.known.size();
  return size;
}

FoldMemory::OfRanks& FoldMemory::of(const TaskGraph& graph, const Traffic& traffic, const Choosers& choosers) {
  const auto known = std::ranges::find_if(
      of_ranks_, [&](const OfRanks& of_ranks) { return of_ranks.ranks.are_of(graph, traffic); });
  if (known != of_ranks_.end()) {
    std::rotate(known, known + 1, of_ranks_.end());
    return of_ranks_.back();
  }
  if (of_ranks_.size() == kKept) of_ranks_.erase(of_ranks_.begin());
  of_ranks_.push_back({.ranks = RankRoutes(graph, traffic, choosers.overhead), .known = {}});
  return of_ranks_.back();
}

Folding FoldMemory::fold(const TaskGraph& graph, const Choosers& choosers, const Router& router) {
  if (!are_covered(graph, choosers)) return ringwright::fold(graph, choosers, router);
  const Traffic traffic = gather_traffic(graph);
  auto& [ranks, known] = of(graph, traffic, choosers);
  std::vector<std::uint64_t> likeness = Likeness(graph, traffic, choosers, ranks).take();
  const auto same = std::ranges::find(known, likeness, &Known::likeness);
  if (same != known.end()) {
    std::rotate(same, same + 1, known.end());
    return known.back().folding;
  }
  if (known.size() == kKept) known.erase(known.begin());
  known.push_back({.likeness = std::move(likeness), .folding = ringwright::fold(graph, choosers, router)});
  return known.back().folding;
}

}  // namespace ringwright
