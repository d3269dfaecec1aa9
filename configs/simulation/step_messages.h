// The choice between collectives in steps and members that progress together: what steps would cost.
#pragma once

#include "core/report/facts.h"

namespace ringwright::configs {

struct Scenario;
class Simulation;

// With `collectives.model: auto`, the most messages that steps may simulate one by one: about three seconds.
inline constexpr double kMostMessagesInSteps = 1e6;

// Whether the scenario allows members to progress together.
[[nodiscard]] bool may_couple(const Scenario& scenario);
// Messages of a run in steps that are simulated one by one, for each class of a group: where all members of a group are
// equal, a call is one or few. Independent of the machine.
[[nodiscard]] double messages_in_steps(const Simulation& simulation);
// The rung of the run; as evidence too where it approximates or was chosen here.
void state_rung(const Scenario& scenario, const Simulation& simulation, StepFacts& facts);

}  // namespace ringwright::configs
