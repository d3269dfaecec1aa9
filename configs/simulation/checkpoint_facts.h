// What a report states about a checkpoint in the simulated step: its bytes, its duration, the stall that training sees.
#pragma once

#include <optional>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/record/run_record.h"
#include "core/report/facts.h"
#include "core/report/report.h"

namespace ringwright::configs {

// Empty where the simulation has no checkpoint. The stall is not known yet.
[[nodiscard]] std::optional<CheckpointFacts> checkpoint_facts(const Scenario& scenario, const Simulation& simulation,
                                                              const RunRecord& record);

// Completes the report of a step with a checkpoint by that of the same step without: the stall is the difference.
void add_stall(const Report& without, Report& report);

}  // namespace ringwright::configs
