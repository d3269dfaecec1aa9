// Simulates a fault schedule: at each of its moments it changes capacities, the router's epoch, and the paths of flows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "network_models/topologies/fault_schedule.h"
#include "network_models/topologies/faulty_router.h"

namespace ringwright::network_models {

class FaultPlayer {
 public:
  struct Parts {
    Engine& engine;
    const FaultSchedule& schedule;
    FaultyRouter& router;          // used by the model's router
    NetworkModel& network;
    // By link of the model: capacity of a healthy one.
    std::span<const Bandwidth> capacities;
    // By link of the schedule: the model's link that represents it. Empty: each represents itself.
    std::span<const std::uint32_t> link_class_of;
  };
  explicit FaultPlayer(const Parts& parts);

  // Schedules all moments before anything else, so that at an instant faults come first. The events refer to this
  // object.
  void schedule();

 private:
  void play(const FaultMoment& moment);

  Parts parts_;
  std::uint32_t epoch_ = 0;
};

}  // namespace ringwright::network_models
