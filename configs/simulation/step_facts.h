// What a report states about a job before anything is simulated: sizes, evidence of inputs, warnings, every value.
#pragma once

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// The peak rate of one GPU: a mean over those of all groups.
[[nodiscard]] FlopRate mean_peak(const Cluster& cluster, DataType precision);

[[nodiscard]] StepFacts job_facts(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
