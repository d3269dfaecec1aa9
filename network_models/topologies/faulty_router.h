// A router around links that are down: another router's paths in the current epoch of a fault schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ports/router.h"
#include "network_models/topologies/fault_schedule.h"
#include "network_models/topologies/lossy_paths.h"
#include "network_models/topologies/nic_failover.h"

namespace ringwright::network_models {

// What faults do to a path, besides making the router take another equal-cost one.
struct FaultPaths {
  std::optional<NicFailover> failover;
  std::optional<LossyPaths> lossy;
};

class FaultyRouter final : public Router {
 public:
  // References must outlive it. Without `paths` (null) transfers wait for a NIC that is down, and nothing is lost.
  FaultyRouter(const Router& router, const FaultSchedule& schedule, std::uint32_t epoch = 0,
               const FaultPaths* paths = nullptr)
      : router_(router), schedule_(schedule), paths_(paths), epoch_(epoch) {}

  void set_epoch(std::uint32_t epoch) { epoch_ = epoch; }

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    RouteQuery now = query;
    now.down = schedule_.down(epoch_);
    const bool moves = paths_ != nullptr && paths_->failover && now.down != nullptr;
    const Duration latency = moves ? paths_->failover->route(router_, now, hops) : router_.route(now, hops);
    if (paths_ != nullptr && paths_->lossy) {
      paths_->lossy->add_retransmissions(schedule_.losses(epoch_), {.from = query.from, .latency = latency}, hops);
    }
    return latency;
  }
  // Of healthy links.
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_.capacities(); }

 private:
  const Router& router_;
  const FaultSchedule& schedule_;
  const FaultPaths* paths_;
  std::uint32_t epoch_;
};

}  // namespace ringwright::network_models
