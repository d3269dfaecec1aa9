// What a report states about a job before anything is simulated: sizes, evidence of inputs, warnings, every value.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Of what the job runs: a model, or recorded traces.
[[nodiscard]] std::string name_of(const Job& job);
// Whose peak counts for MFU: of 16 bits where GEMMs are in fp8 or fp4.
[[nodiscard]] DataType precision_of(const Job& job);

// The peak rate of one GPU: a mean over those of all groups.
[[nodiscard]] FlopRate mean_peak(const Cluster& cluster, DataType precision);

[[nodiscard]] StepFacts job_facts(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
