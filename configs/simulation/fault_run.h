// The faults of one run in its simulation: the router that avoids them, the events that change the network, the report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/faults.h"
#include "configs/simulation/simulation.h"
#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "core/ports/router.h"
#include "core/report/facts.h"
#include "core/run/step/stall_report.h"
#include "network_models/flow/fault_player.h"
#include "network_models/topologies/faulty_router.h"

namespace ringwright::configs {

// Not movable: events refer to it. References must outlive it.
class FaultRun {
 public:
  explicit FaultRun(const Simulation& simulation);

  // The router to build the network model with.
  [[nodiscard]] const Router& router() const;
  // By link id of that router: cables of NICs with failover; empty: there are none.
  [[nodiscard]] std::vector<bool> cables_with_failover() const;
  // By link id of that router, once the faults of the beginning are in force.
  [[nodiscard]] std::vector<Bandwidth> first_capacities() const;
  // Before anything else is scheduled.
  void schedule(Engine& engine, NetworkModel& network);

 private:
  const Simulation& simulation_;
  network_models::FaultyRouter faulty_;
  std::unique_ptr<Router> folded_;
  std::optional<network_models::FaultPlayer> player_;
};

// What shares links, and is therefore affected by their faults and by background traffic: with formulas for collectives
// only messages of the job, which may have none.
enum class LinksMeet { kNothing, kMessages, kAll };
[[nodiscard]] LinksMeet links_meet(const Scenario& scenario, const Simulation& simulation);
// Remark on a simulated fault: that it affected only messages.
[[nodiscard]] std::string_view remark(LinksMeet met);

// The simulated faults and background traffic: what begins before the end of the run and can affect something. A
// warning for each that begins later.
void add_disturbances(const Scenario& scenario, LinksMeet met, TimePoint end, StepFacts& facts);
// E125 for each that begins after the end of the run.
[[nodiscard]] std::vector<ReportWarning> late_disturbances(const Scenario& scenario, TimePoint end);

// Of a run that ended with a transfer that was given up: which one, its location, and NCCL's error.
[[nodiscard]] std::vector<std::string> tell_given_up(const Scenario& scenario, const Simulation& simulation,
                                                     const StallReport& stall);
// Of a run that stalled: the links that were down.
[[nodiscard]] std::vector<std::string> links_down_at(const Faults& faults, TimePoint when);

}  // namespace ringwright::configs
