// What a report states about a job before anything is simulated: sizes, evidence of inputs, warnings, every value.
#pragma once

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

[[nodiscard]] StepFacts job_facts(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
