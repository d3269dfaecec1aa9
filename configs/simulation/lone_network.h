// A second network of a simulation, on a clock of its own, where calls are simulated alone: in steps, or as kernels
// run them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/fault_run.h"
#include "configs/simulation/simulation.h"
#include "core/engine/engine.h"
#include "core/run/alone/lone_calls.h"

namespace ringwright::configs {

class LoneNetwork final : public RunnerMaker {
 public:
  LoneNetwork(const Scenario& scenario, const Simulation& simulation);
  LoneNetwork(const LoneNetwork&) = delete;  // its parts refer to each other
  LoneNetwork& operator=(const LoneNetwork&) = delete;

  [[nodiscard]] LoneCalls& calls() { return calls_; }
  [[nodiscard]] std::unique_ptr<CollectiveRunner> make(PlayedJob& job) const override;
  [[nodiscard]] std::uint64_t events() const { return engine_.events_run(); }

 private:
  const Scenario& scenario_;
  const Simulation& simulation_;
  Engine engine_;
  FaultRun faults_;
  std::vector<Bandwidth> capacities_;
  std::unique_ptr<NetworkModel> network_;
  LoneCalls calls_;
};

// Null where a call that is simulated alone tells little: the network changes with time or flows depend on the past of
// others, or several jobs or computing meet it; and where all calls are formulas, or go in steps and those within hosts
// have members of one class each.
[[nodiscard]] std::unique_ptr<LoneNetwork> make_lone_network(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
