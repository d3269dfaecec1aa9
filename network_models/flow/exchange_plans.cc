#include "network_models/flow/exchange_plans.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/random.h"

namespace ringwright::network_models {
namespace {

ExchangeOutcome find_outcome(const Exchange& exchange, const ExchangePaths& paths, std::span<const TimePoint> starts) {
  const ExchangeTimeline timeline(paths, starts, kNever);
  ExchangeOutcome outcome;
  TimePoint last;
  for (std::uint32_t member = 0; member < exchange.shape.members(); ++member) {
    TimePoint end;
    for (const std::uint32_t edge : exchange.shape.awaited_by(member)) {
      end = std::max(end, timeline.messages()[edge].end);
    }
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
  std::erase_if(plans_, [link](const auto& entry) {
    const std::vector<LinkId>& links = entry.second.links;
    return std::ranges::find(links, link) != links.end();
  });
}

ExchangePlan ExchangePlans::make(const Exchange& exchange) {
  ExchangePlan plan;
  ExchangePaths paths;
  std::unordered_map<std::uint32_t, std::uint32_t> number_of;  // by link
  plan.may_go_at_once = awaits_all(exchange.shape);
  for (std::uint32_t edge = 0; edge < exchange.edges.size(); ++edge) {
    const RingEdge& message = exchange.edges[edge];
    const RouteQuery query{.from = message.from, .to = message.to, .nics = message.nics, .label = message.label};
    ExchangePaths::Edge& path = paths.edges.emplace_back();
    path.member = exchange.shape.member_of(edge);
    path.latency = routes_.find(query, 1);
    path.bytes = static_cast<double>(message.sizes[message.first].count());
    plan.may_go_at_once = plan.may_go_at_once && path.latency > Duration();
    plan.hops.emplace_back(routes_.hops().begin(), routes_.hops().end());
    path.hops = plan.hops.back();
    for (Hop& hop : path.hops) {
      const auto [link, is_new] = number_of.try_emplace(hop.link.value, static_cast<std::uint32_t>(plan.links.size()));
      if (is_new) {
        plan.links.push_back(hop.link);
        paths.capacities.push_back(state_.shares.capacity(hop.link.value));
        plan.may_go_at_once = plan.may_go_at_once && state_.shares.carries(hop.link.value);
      }
      hop.link = LinkId(link->second);
    }
  }
  plan.kind = &kind_of(exchange, std::move(paths));
  return plan;
}

ExchangeKind& ExchangePlans::kind_of(const Exchange& exchange, ExchangePaths paths) {
  std::vector<std::uint64_t> key = {paths.edges.size(), paths.capacities.size(), exchange.shape.members()};
  for (const Bandwidth capacity : paths.capacities) key.push_back(std::bit_cast<std::uint64_t>(capacity.count()));
  for (const ExchangePaths::Edge& edge : paths.edges) {
    key.insert(key.end(), {edge.member, static_cast<std::uint64_t>(edge.latency.count()),
                           std::bit_cast<std::uint64_t>(edge.bytes), edge.hops.size()});
    for (const Hop& hop : edge.hops) {
      key.insert(key.end(), {hop.link.value, std::bit_cast<std::uint64_t>(hop.share * hop.multiplicity)});
    }
  }
  for (std::uint32_t member = 0; member < exchange.shape.members(); ++member) {
    const std::span<const std::uint32_t> awaited = exchange.shape.awaited_by(member);
    key.push_back(awaited.size());
    key.insert(key.end(), awaited.begin(), awaited.end());
  }
  std::unique_ptr<ExchangeKind>& kind = kinds_[std::move(key)];
  if (kind == nullptr) kind = std::make_unique<ExchangeKind>(ExchangeKind{.paths = std::move(paths), .outcomes = {}});
  return *kind;
}

const ExchangeOutcome& ExchangePlans::outcome(const Exchange& exchange, const ExchangePlan& plan,
                                              std::span<const TimePoint> starts, ExchangeOutcome& passing) {
  since_first_.clear();
  const TimePoint first = std::ranges::min(starts);
  for (const TimePoint start : starts) since_first_.emplace_back(start - first);
  ExchangeKind& kind = *plan.kind;
  const auto known = kind.outcomes.find(since_first_);
  if (known != kind.outcomes.end()) return known->second;
  passing = find_outcome(exchange, kind.paths, since_first_);
  const std::size_t numbers = 2 * starts.size() + 2 * plan.links.size();
  if (kept_ + numbers > kMostKept) return passing;
  kept_ += numbers;
  return kind.outcomes.emplace(since_first_, passing).first->second;
}

}  // namespace ringwright::network_models
