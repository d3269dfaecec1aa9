// The calls of a simulation as messages, for GOAL schedules.
#pragma once

#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"
#include "traces/goal/export.h"

namespace ringwright::configs {

class SimulatedGoalCalls final : public traces::GoalCalls {
 public:
  explicit SimulatedGoalCalls(const Simulation& simulation) : simulation_(simulation) {}  // outlives this

  [[nodiscard]] tl::expected<std::vector<traces::GoalStep>, std::string> steps(const CollectiveCall& call,
                                                                               int member) const override;
  [[nodiscard]] Duration before(const CollectiveCall& call) const override;
  [[nodiscard]] Duration before(const MessageCall& message, RankId sender, RankId receiver) const override;

 private:
  const Simulation& simulation_;
};

// What such a schedule lacks of the simulation (warnings W624).
[[nodiscard]] Diagnostics lost_in_goal(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
