#include "core/symmetry/pattern_table.h"

#include <algorithm>
#include <bit>

#include "core/base/random.h"
#include "core/symmetry/member_pattern.h"

namespace ringwright {
namespace {

std::uint64_t costs_of(const Choosers& choosers, const CollectiveCall& call) {
  std::uint64_t hash = 0;
  if (choosers.overhead != nullptr) {
    hash = mix(hash, static_cast<std::uint64_t>(choosers.overhead->of(call).count()));
  }
  if (choosers.contention != nullptr) hash = mix(hash, hash_of(choosers.contention->of(call)));
  return hash;
}

// All collectives that a program calls in one dimension, for a group of the given layout.
MemberPattern make_pattern(const Choosers& choosers, DimensionId dimension, const GroupLayout& layout,
                           const std::set<CollectiveContent>& contents) {
  MemberPattern pattern;
  std::vector<EdgeCollector> collectors(static_cast<std::size_t>(layout.size()));
  const StepVisits visits = choosers.members_together ? StepVisits::kPhases : StepVisits::kAll;
  for (const auto& [kind, bytes] : contents) {
    const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout, .dimension = dimension};
    const MemberPattern of_call = choosers.channels != nullptr
                                      ? make_call_pattern(choosers.channels->choose(call), call)
                                      : make_call_pattern(choosers.steps.choose(call), call, visits);
    const std::uint64_t salt =
        mix(dimension.value, static_cast<std::uint64_t>(bytes.count())) + static_cast<std::uint64_t>(kind);
    pattern.everyone = pattern.everyone || of_call.everyone || (choosers.members_together && layout.size() > 1);
    if (choosers.times != nullptr) {
      const auto time = static_cast<std::uint64_t>(choosers.times->time(call).count());
      pattern.pairing = mix(pattern.pairing, mix(time, static_cast<std::uint64_t>(choosers.times->sent(call).count())));
    }
    if (choosers.overhead != nullptr || choosers.contention != nullptr) {
      pattern.costs = mix(pattern.costs, costs_of(choosers, call));
    }
    for (std::size_t member = 0; member < collectors.size(); ++member) {
      for (MemberEdge edge : of_call.edges[member]) {
        edge.loads_links = !choosers.members_together || bytes > kCoupledLatencyOnly;
        collectors[member].add(edge, mix(salt, edge.role));
      }
    }
  }
  for (const EdgeCollector& collector : collectors) pattern.edges.push_back(collector.edges());
  pattern.only_meets = pattern.everyone && std::ranges::all_of(pattern.edges, [](const auto& e) { return e.empty(); });
  return pattern;
}

}  // namespace

std::uint64_t hash_of(const Contention& contention) {
  return mix(mix(static_cast<std::uint64_t>(contention.sms), std::bit_cast<std::uint64_t>(contention.memory.count())),
             std::bit_cast<std::uint64_t>(contention.copies.count()));
}

PatternTable::PatternTable(const TaskGraph& graph, const Choosers& choosers, const std::vector<DimensionCalls>& calls)
    : graph_(graph), choosers_(choosers), calls_(calls) {
  constexpr std::size_t kFew = std::size_t{1} << 16U;
  const std::size_t layouts = graph.layouts.size();
  if (calls.size() < kFew && calls.size() * layouts < kFew) found_.assign(calls.size() * layouts, nullptr);
}

const KindPattern& PatternTable::look_up(std::size_t calls, std::uint32_t layout, EdgeKinds& kinds) {
  auto known = patterns_.find({calls, layout});
  if (known == patterns_.end()) {
    const auto& [dimension, contents] = calls_[calls];
    MemberPattern pattern = make_pattern(choosers_, dimension, graph_.layouts[layout], contents);
    KindPattern edges = by_kind(std::move(pattern), dimension, choosers_.members_together, kinds);
    known = patterns_.emplace(std::pair(calls, layout), std::move(edges)).first;
    if (known->second.all.everyone) everyone_.insert(dimension);
  }
  return known->second;
}

}  // namespace ringwright
