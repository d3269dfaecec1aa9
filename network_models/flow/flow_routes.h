// The paths of flows: of a transfer its links; of coupled messages the links of them all, each with the part of their
// common rate that it carries.
//
// The common rate is that of the largest message. A message of half that size moves half as fast, and a link that
// several messages cross carries the sum.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/ports/network_model.h"
#include "core/ports/router.h"
#include "network_models/flow/flow_table.h"
#include "network_models/flow/route_cache.h"

namespace ringwright::network_models {

class FlowRoutes {
 public:
  explicit FlowRoutes(const Router& router) : router_(router), cache_(router) {}

  // The paths of transfers.
  [[nodiscard]] RouteCache& known() { return cache_; }
  // The path of a transfer as hops().
  void take_hops(const RouteCache::Route& route, std::uint32_t copies);
  // The same; returns its latency.
  Duration find(const RouteQuery& query, std::uint32_t copies) {
    const RouteCache::Route& route = cache_.find(query);
    take_hops(route, copies);
    return route.latency;
  }
  // The path of coupled messages, from now on that of the flow.
  struct CoupledPath {
    Duration latency;    // of all its steps
    double bytes = 0.0;  // of the largest message, in all steps
    RouteQuery longest;  // the message of the longest latency
  };
  CoupledPath find(const CoupledTransfer& coupled, FlowSlot flow);
  // The path of a flow after the router's paths have changed.
  Duration find_again(FlowSlot flow, const RouteQuery& query, std::uint32_t copies);
  // Of the last path found.
  [[nodiscard]] std::span<const Hop> hops() const { return path_; }

  // The flow has ended.
  void forget(FlowSlot flow) {
    if (flow < coupled_of_.size()) coupled_of_[flow] = {};
  }
  // The router's paths have changed.
  void forget_known() {
    known_.clear();
    cache_.clear();
  }

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kKeptHops = std::size_t{1} << 21U;  // of known paths: 48 MiB

  struct Known {
    Duration latency;  // of one step
    Bytes largest;
    RouteQuery longest;
    std::vector<Hop> hops;
  };

  [[nodiscard]] Known join(std::span<const CoupledMessage> messages);
  void add(const CoupledMessage& message, Known& known);
  [[nodiscard]] CoupledPath take(const Known& known, std::uint32_t steps);

  const Router& router_;
  std::span<const Hop> path_;            // of the last path found
  std::vector<Hop> hops_;                // the same where it is not a known one
  RouteCache cache_;
  std::vector<Hop> hops_of_message_;     // scratch
  std::vector<std::uint32_t> place_of_;  // scratch, by link: its place among the coupled hops; first empty
  std::vector<CoupledTransfer> coupled_of_;        // by flow; without messages: a transfer
  std::unordered_map<const CoupledMessage*, Known> known_;
  std::size_t kept_hops_ = 0;            // of all known
};

}  // namespace ringwright::network_models
