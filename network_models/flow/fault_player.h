// Plays a fault schedule: at each of its moments it changes capacities, the router's epoch, and the ways of what flows.
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
    FaultyRouter& router;          // that the model's router asks
    NetworkModel& network;
    // By link of the model: what a healthy one carries.
    std::span<const Bandwidth> capacities;
    // By link of the schedule: the model's link that stands for it. Empty: each stands for itself.
    std::span<const std::uint32_t> link_class_of;
  };
  explicit FaultPlayer(const Parts& parts);

  // Puts all moments before whatever else is still to be scheduled, so that at an instant faults come first. What is
  // put in refers to this object.
  void schedule();

 private:
  void play(const FaultMoment& moment);

  Parts parts_;
  std::uint32_t epoch_ = 0;
};

}  // namespace ringwright::network_models
