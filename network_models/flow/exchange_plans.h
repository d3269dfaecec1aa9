// What is known of exchanges that were opened before: the paths of their messages, and how they end if no other flow
// uses their links.
//
// Each part of an exchange (exchange_parts.h) ends by itself. Parts of equal paths, sizes and shapes (on all equal
// hosts) take the same time from the same starts of their members, to the picosecond: they share their outcomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/ports/network_model.h"
#include "network_models/flow/exchange_parts.h"
#include "network_models/flow/exchange_timeline.h"
#include "network_models/flow/flow_routes.h"
#include "network_models/flow/flow_state.h"

namespace ringwright::network_models {

// Of one part, since its first member has started, for certain starts of the others.
struct ExchangeOutcome {
  std::vector<Duration> ends;    // by waiting member of the part
  std::vector<LinkUsage> usage;  // by link of the part
};

// Of parts that are equal.
struct ExchangeKind {
  struct HashOfStarts {
    [[nodiscard]] std::size_t operator()(const std::vector<TimePoint>& starts) const;
  };
  ExchangePaths paths;
  std::vector<std::vector<std::uint32_t>> awaits;  // by waiting member, edges
  std::unordered_map<std::vector<TimePoint>, ExchangeOutcome, HashOfStarts> outcomes;  // by starts since the first
};

// Of one part of an exchange.
struct ExchangePartPlan {
  std::vector<LinkId> links;           // of the router, by those of the part
  std::vector<std::uint32_t> edges;    // of the exchange, by those of the part
  std::vector<std::uint32_t> senders;  // members of the exchange, by those of the part
  std::vector<std::uint32_t> waiting;  // the same
  ExchangeKind* kind = nullptr;
  bool may_go_at_once = false;
};

struct ExchangePlan {
  struct Place {
    std::uint32_t part = 0;
    std::uint32_t edge = 0;  // of the part
  };
  std::vector<std::vector<Hop>> hops;  // by edge, over links of the router
  std::vector<Duration> latencies;     // by edge
  std::vector<Place> places;           // by edge
  std::vector<ExchangePartPlan> parts;
};

class ExchangePlans {
 public:
  ExchangePlans(const FlowState& state, FlowRoutes& routes) : state_(state), routes_(routes) {}

  // Valid until a capacity or routes are forgotten.
  [[nodiscard]] const ExchangePlan& plan_of(const Exchange& exchange);
  // A link has another capacity: plans over it, of which no part is at once, are made anew.
  void forget_capacity(LinkId link);
  void forget_routes() { plans_.clear(); }
  // Of the starts of the part's senders: one that is kept, or `passing`.
  [[nodiscard]] const ExchangeOutcome& outcome(const ExchangePartPlan& part, std::span<const TimePoint> starts,
                                               ExchangeOutcome& passing);

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 21U;  // numbers in all outcomes: 32 MiB

  [[nodiscard]] ExchangePlan make(const Exchange& exchange);
  [[nodiscard]] ExchangePartPlan make_part(const Exchange& exchange, const ExchangePlan& plan, ExchangePart part);
  [[nodiscard]] ExchangeKind& kind_of(ExchangePaths paths, std::vector<std::vector<std::uint32_t>> awaits);

  const FlowState& state_;
  FlowRoutes& routes_;
  std::unordered_map<const Exchange*, ExchangePlan> plans_;
  std::map<std::vector<std::uint64_t>, std::unique_ptr<ExchangeKind>> kinds_;  // by all that makes them equal
  std::size_t kept_ = 0;
  std::vector<TimePoint> since_first_;  // scratch
};

}  // namespace ringwright::network_models
