// The calls of a simulation as messages, for GOAL schedules.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"
#include "core/base/ids.h"
#include "core/ports/router.h"
#include "traces/goal/export.h"

namespace ringwright::configs {

class SimulatedGoalCalls final : public traces::GoalCalls {
 public:
  explicit SimulatedGoalCalls(const Simulation& simulation) : simulation_(simulation) {}  // outlives this

  [[nodiscard]] tl::expected<std::vector<traces::GoalStep>, std::string> steps(const CollectiveCall& call,
                                                                               const std::vector<RankId>& group,
                                                                               std::size_t member) override;
  [[nodiscard]] Duration before(const CollectiveCall& call) const override;
  [[nodiscard]] Duration before(const MessageCall& message, RankId sender, RankId receiver) const override;
  // Dimensions with a message whose NICs, which its algorithm names, are on another path than the GPUs' own.
  [[nodiscard]] const std::set<DimensionId>& with_other_nics() const { return with_other_nics_; }

 private:
  [[nodiscard]] bool leaves_own_path(const RouteQuery& query);

  const Simulation& simulation_;
  std::set<DimensionId> with_other_nics_;
  std::vector<Hop> named_, own_;
};

// What such a schedule lacks of the simulation (warnings W624), before and after its calls are messages.
[[nodiscard]] Diagnostics lost_in_goal(const Scenario& scenario, const Simulation& simulation);
[[nodiscard]] Diagnostics lost_in_goal(const SimulatedGoalCalls& calls, const Simulation& simulation);

}  // namespace ringwright::configs
