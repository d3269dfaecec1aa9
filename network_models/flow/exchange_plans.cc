#include "network_models/flow/exchange_plans.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/random.h"

namespace ringwright::network_models {
namespace {

ExchangeOutcome find_outcome(const ExchangeKind& kind, std::span<const TimePoint> starts) {
  const ExchangeTimeline timeline(kind.paths, starts, kNever);
  ExchangeOutcome outcome;
  TimePoint last;
  for (const std::vector<std::uint32_t>& awaited : kind.awaits) {
    TimePoint end;
    for (const std::uint32_t edge : awaited) end = std::max(end, timeline.messages()[edge].end);
    outcome.ends.push_back(end.since_start());
    last = std::max(last, end);
  }
  outcome.usage = timeline.usage(last, ExchangeTimeline::InFlight::kLeftOut);
  return outcome;
}

// Nobody ends before all have started.
bool awaits_all(const RingShape& shape) {
  std::vector<std::uint32_t> awaited_by(shape.members(), shape.members());
  for (std::uint32_t member = 0; member < shape.members(); ++member) {
    std::uint32_t count = 0;
    for (const std::uint32_t edge : shape.awaited_by(member)) {
      if (std::exchange(awaited_by[shape.member_of(edge)], member) != member) ++count;
    }
    if (count < shape.members()) return false;
  }
  return true;
}

}  // namespace

std::size_t ExchangeKind::HashOfStarts::operator()(const std::vector<TimePoint>& starts) const {
  std::uint64_t hash = starts.size();
  for (const TimePoint start : starts) hash = mix(hash, static_cast<std::uint64_t>(start.since_start().count()));
  return hash;
}

const ExchangePlan& ExchangePlans::plan_of(const Exchange& exchange) {
  const auto known = plans_.find(&exchange);
  return known != plans_.end() ? known->second : plans_.emplace(&exchange, make(exchange)).first->second;
}

void ExchangePlans::forget_capacity(LinkId link) {
  const auto uses = [link](const ExchangePartPlan& part) {
    return std::ranges::find(part.links, link) != part.links.end();
  };
  std::erase_if(plans_, [&uses](const auto& entry) { return std::ranges::any_of(entry.second.parts, uses); });
}

ExchangePlan ExchangePlans::make(const Exchange& exchange) {
  ExchangePlan plan;
  for (const RingEdge& message : exchange.edges) {
    const RouteQuery query{.from = message.from, .to = message.to, .nics = message.nics, .label = message.label};
    plan.latencies.push_back(routes_.find(query, 1));
    plan.hops.emplace_back(routes_.hops().begin(), routes_.hops().end());
  }
  const std::vector<std::uint32_t> part_of_edge = parts_by_links(plan.hops);
  plan.places.resize(exchange.edges.size());
  const bool may_go_at_once = awaits_all(exchange.shape);
  for (ExchangePart& part : parts_of(exchange.shape, part_of_edge)) {
    for (std::uint32_t edge = 0; edge < part.edges.size(); ++edge) {
      plan.places[part.edges[edge]] = {.part = static_cast<std::uint32_t>(plan.parts.size()), .edge = edge};
    }
    plan.parts.push_back(make_part(exchange, plan, std::move(part)));
    plan.parts.back().may_go_at_once &= may_go_at_once;
  }
  return plan;
}

ExchangePartPlan ExchangePlans::make_part(const Exchange& exchange, const ExchangePlan& plan, ExchangePart part) {
  ExchangePartPlan made;
  ExchangePaths paths;
  std::unordered_map<std::uint32_t, std::uint32_t> number_of;  // by link
  made.may_go_at_once = true;
  for (std::size_t edge = 0; edge < part.edges.size(); ++edge) {
    const RingEdge& message = exchange.edges[part.edges[edge]];
    ExchangePaths::Edge& path = paths.edges.emplace_back();
    path.member = part.sender_of[edge];
    path.latency = plan.latencies[part.edges[edge]];
    path.bytes = static_cast<double>(message.sizes[message.first].count());
    made.may_go_at_once = made.may_go_at_once && path.latency > Duration();
    path.hops = plan.hops[part.edges[edge]];
    for (Hop& hop : path.hops) {
      const auto [link, is_new] = number_of.try_emplace(hop.link.value, static_cast<std::uint32_t>(made.links.size()));
      if (is_new) {
        made.links.push_back(hop.link);
        paths.capacities.push_back(state_.shares.capacity(hop.link.value));
        made.may_go_at_once = made.may_go_at_once && state_.shares.carries(hop.link.value);
      }
      hop.link = LinkId(link->second);
    }
  }
  made.kind = &kind_of(std::move(paths), std::move(part.awaits));
  made.edges = std::move(part.edges);
  made.senders = std::move(part.senders);
  made.waiting = std::move(part.waiting);
  return made;
}

ExchangeKind& ExchangePlans::kind_of(ExchangePaths paths, std::vector<std::vector<std::uint32_t>> awaits) {
  std::vector<std::uint64_t> key = {paths.edges.size(), paths.capacities.size(), awaits.size()};
  for (const Bandwidth capacity : paths.capacities) key.push_back(std::bit_cast<std::uint64_t>(capacity.count()));
  for (const ExchangePaths::Edge& edge : paths.edges) {
    key.insert(key.end(), {edge.member, static_cast<std::uint64_t>(edge.latency.count()),
                           std::bit_cast<std::uint64_t>(edge.bytes), edge.hops.size()});
    for (const Hop& hop : edge.hops) {
      key.insert(key.end(), {hop.link.value, std::bit_cast<std::uint64_t>(hop.share * hop.multiplicity)});
    }
  }
  for (const std::vector<std::uint32_t>& awaited : awaits) {
    key.push_back(awaited.size());
    key.insert(key.end(), awaited.begin(), awaited.end());
  }
  std::unique_ptr<ExchangeKind>& kind = kinds_[std::move(key)];
  if (kind == nullptr) {
    kind = std::make_unique<ExchangeKind>(
        ExchangeKind{.paths = std::move(paths), .awaits = std::move(awaits), .outcomes = {}});
  }
  return *kind;
}

const ExchangeOutcome& ExchangePlans::outcome(const ExchangePartPlan& part, std::span<const TimePoint> starts,
                                              ExchangeOutcome& passing) {
  since_first_.clear();
  const TimePoint first = std::ranges::min(starts);
  for (const TimePoint start : starts) since_first_.emplace_back(start - first);
  ExchangeKind& kind = *part.kind;
  const auto known = kind.outcomes.find(since_first_);
  if (known != kind.outcomes.end()) return known->second;
  passing = find_outcome(kind, since_first_);
  const std::size_t numbers = 2 * starts.size() + 2 * part.links.size();
  if (kept_ + numbers > kMostKept) return passing;
  kept_ += numbers;
  return kind.outcomes.emplace(since_first_, passing).first->second;
}

}  // namespace ringwright::network_models
