// A router around links that are down: another router's paths in the current epoch of a fault schedule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/router.h"
#include "network_models/topologies/fault_schedule.h"
#include "network_models/topologies/nic_failover.h"

namespace ringwright::network_models {

class FaultyRouter final : public Router {
 public:
  // References must outlive it. Without `failover` (null) transfers wait for a NIC that is down.
  FaultyRouter(const Router& router, const FaultSchedule& schedule, std::uint32_t epoch = 0,
               const NicFailover* failover = nullptr)
      : router_(router), schedule_(schedule), failover_(failover), epoch_(epoch) {}

  void set_epoch(std::uint32_t epoch) { epoch_ = epoch; }

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    RouteQuery now = query;
    now.down = schedule_.down(epoch_);
    return failover_ != nullptr && now.down != nullptr ? failover_->route(router_, now, hops)
                                                       : router_.route(now, hops);
  }
  // Of healthy links.
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_.capacities(); }

 private:
  const Router& router_;
  const FaultSchedule& schedule_;
  const NicFailover* failover_;
  std::uint32_t epoch_;
};

}  // namespace ringwright::network_models
