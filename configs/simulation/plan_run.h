// One run of a simulation's plan, with what is known of its calls beforehand.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "configs/simulation/link_sampler.h"
#include "configs/simulation/lone_network.h"
#include "configs/simulation/simulate.h"
#include "core/run/shortcuts/rehearsed_calls.h"

namespace ringwright::configs {

[[nodiscard]] bool goes_fast_forward(const Scenario& scenario, const SimulateOptions& options);
// Whether tasks are recorded, so that nothing is left out.
[[nodiscard]] bool is_traced(const SimulateOptions& options);

// What is known of calls; null: nothing.
struct KnownCalls {
  const TaskGraph* graph = nullptr;           // instead of the simulation's: some ranks are simulated task by task
  const RehearsedCalls* rehearsed = nullptr;  // passes are simulated task by task without
  LoneNetwork* lone = nullptr;                // without, kernels go chunk by chunk and calls within hosts in steps
  std::uint64_t most_void_events = std::numeric_limits<std::uint64_t>::max();  // as in ExecutorOptions
};

// `recorded`: classes whose tasks are recorded; empty: those of the timeline.
[[nodiscard]] PlayedPlan play_once(const Scenario& scenario, const Simulation& simulation,
                                   const SimulateOptions& options, const KnownCalls& known,
                                   const std::vector<ClassId>& recorded = {}, LinkSampler* links = nullptr);

}  // namespace ringwright::configs
