// What a report states about a job before anything is simulated: sizes, evidence of inputs, warnings, every value.
#pragma once

#include <string>
#include <string_view>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Of what the job runs: a model, or recorded traces.
[[nodiscard]] std::string name_of(const Job& job);
// Whose peak counts for MFU: of 16 bits where GEMMs are in fp8 or fp4.
[[nodiscard]] DataType precision_of(const Job& job);
// What the tokens of a step are: "samples" of a recommendation model or a table of layers, else "tokens".
[[nodiscard]] std::string_view processed_by(const Job& job);

// The peak rate of one GPU: a mean over those of all groups.
[[nodiscard]] FlopRate mean_peak(const Cluster& cluster, DataType precision);

[[nodiscard]] StepFacts job_facts(const Scenario& scenario, const Simulation& simulation);

}  // namespace ringwright::configs
