// What is known of exchanges that were opened before: the paths of their messages, and how they end if no other flow
// uses their links.
//
// Exchanges of equal paths, sizes and shapes (on all equal hosts) take the same time from the same
// starts of their members, to the picosecond: they share their outcomes.
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
#include "network_models/flow/exchange_timeline.h"
#include "network_models/flow/flow_routes.h"
#include "network_models/flow/flow_state.h"

namespace ringwright::network_models {

// Since the first member has started, for certain starts of the others.
struct ExchangeOutcome {
  std::vector<Duration> ends;    // by member
  std::vector<LinkUsage> usage;  // by link of the exchange
};

// Of exchanges that are equal.
struct ExchangeKind {
  struct HashOfStarts {
    [[nodiscard]] std::size_t operator()(const std::vector<TimePoint>& starts) const;
  };
  ExchangePaths paths;
  std::unordered_map<std::vector<TimePoint>, ExchangeOutcome, HashOfStarts> outcomes;  // by starts since the first
};

struct ExchangePlan {
  std::vector<LinkId> links;           // of the router, by those of the exchange
  std::vector<std::vector<Hop>> hops;  // by edge, over links of the router
  ExchangeKind* kind = nullptr;
  bool may_go_at_once = false;
};

class ExchangePlans {
 public:
  ExchangePlans(const FlowState& state, FlowRoutes& routes) : state_(state), routes_(routes) {}

  // Valid until a capacity or routes are forgotten.
  [[nodiscard]] const ExchangePlan& plan_of(const Exchange& exchange);
  // A link has another capacity: plans over it are made anew.
  void forget_capacity(LinkId link);
  void forget_routes() { plans_.clear(); }
  // Of the members' starts: one that is kept, or `passing`.
  [[nodiscard]] const ExchangeOutcome& outcome(const Exchange& exchange, const ExchangePlan& plan,
                                               std::span<const TimePoint> starts, ExchangeOutcome& passing);

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 21U;  // numbers in all outcomes: 32 MiB

  [[nodiscard]] ExchangePlan make(const Exchange& exchange);
  [[nodiscard]] ExchangeKind& kind_of(const Exchange& exchange, ExchangePaths paths);

  const FlowState& state_;
  FlowRoutes& routes_;
  std::unordered_map<const Exchange*, ExchangePlan> plans_;
  std::map<std::vector<std::uint64_t>, std::unique_ptr<ExchangeKind>> kinds_;  // by all that makes them equal
  std::size_t kept_ = 0;
  std::vector<TimePoint> since_first_;  // scratch
};

}  // namespace ringwright::network_models
