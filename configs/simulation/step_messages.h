// The choice between collectives in steps and ranks that progress together: what steps would cost.
#pragma once

#include <optional>

#include "core/plan/task_graph.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/router.h"
#include "core/report/facts.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"

namespace ringwright::configs {

struct Scenario;
class Simulation;

// With `collectives.model: auto`, the most messages that steps may simulate one by one: about three seconds.
inline constexpr double kMostMessagesInSteps = 1e6;
// And the most steps of members that folding may compare to find that out: about a second.
inline constexpr double kMostStepsCompared = 5e6;

struct ProgressChoice {
  MemberProgress progress = MemberProgress::kEach;
  std::optional<double> messages;        // in steps one by one, where that decided
  std::optional<double> steps_compared;  // where these were too many
};

struct StepsOfJob {
  const TaskGraph& graph;
  const CollectiveChooser& chooser;
  const Router& router;
};
// As the scenario says; with `auto` by what steps would cost. Independent of the machine, of faults and of overheads.
[[nodiscard]] ProgressChoice choose_progress(const Scenario& scenario, const StepsOfJob& job);

// Messages of a run in steps that are simulated one by one, for each class of a group: where all members of a group are
// equal, a call is one or few. With `fast_forward` a member's messages in a ring within a host count as one.
[[nodiscard]] double messages_in_steps(const StepsOfJob& job, const RankClasses& classes, bool fast_forward);
// The rung of the run; as evidence too where it approximates or was chosen here.
void state_rung(const Scenario& scenario, const Simulation& simulation, StepFacts& facts);

}  // namespace ringwright::configs
