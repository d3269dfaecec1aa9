// The overheads of a plan's calls on all cores, before a run asks for them one by one.
#pragma once

#include "configs/scenario/scenario.h"
#include "configs/simulation/known_overheads.h"
#include "core/plan/task_graph.h"
#include "core/ports/channel_algorithm.h"
#include "core/run/step/executor.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

struct PlannedCalls {
  const Scenario& scenario;
  const TaskGraph& graph;
  const network_models::Network& network;
  const ChannelChooser& kernels;
  MemberProgress progress = MemberProgress::kEach;
};

// Where several distinct calls take long to simulate alone, each thread simulates some of them, the longest first. What
// is known afterwards is what a run would find, so that it changes no result; small calls are left to the run.
void find_overheads(const PlannedCalls& calls, KnownOverheads& known);

// Primitives of one rank in one call with these kernels; 0 where none implement it.
[[nodiscard]] double primitives_in(const ChannelChooser& chooser, const CollectiveCall& call);

}  // namespace ringwright::configs
