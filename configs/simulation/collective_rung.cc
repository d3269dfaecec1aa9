#include "configs/simulation/collective_rung.h"

#include <algorithm>

#include "configs/simulation/group_wires.h"
#include "configs/simulation/plan_calls.h"

namespace ringwright::configs {

CollectiveRung::CollectiveRung(const Inputs& inputs) : choices_(inputs.choices) {
  const Scenario& scenario = inputs.scenario;
  if (scenario.collectives.rung == collectives::Rung::kClosedForm) {
    closed_form_ = std::make_unique<collectives::ClosedForm>(inputs.choices.steps(),
                                                             GroupWires(inputs.graph, *inputs.network.router));
    if (inputs.asked != nullptr) asked_formula_.emplace(*closed_form_, *inputs.asked);
  }
  if (scenario.collectives.rung != collectives::Rung::kChunks) {
    if (scenario.collectives.kernel_overhead) wire_overheads(inputs);
    wire_library(inputs);
    return;
  }
  // Algorithms from files come before all others.
  files_ = std::make_unique<collectives::FileChooser>(scenario.nccl.algorithms, scenario.nccl.plans,
                                                      inputs.choices.kernels());
  channels_.emplace(ChannelInputs{.chooser = *files_, .costs = scenario.comm.costs});
}

std::vector<IgnoredKey> CollectiveRung::idle_files(const TaskGraph& graph) const {
  std::vector<IgnoredKey> ignored;
  if (files_ == nullptr) return ignored;
  std::vector<CollectiveCall> calls;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) { calls.push_back(call); });
  for (const std::string& file : files_->idle(calls)) {
    ignored.push_back({.path = "comm.algorithms", .origin = {}, .why = file + "; there is no such call"});
  }
  return ignored;
}

// Kernels give the cost in addition to the messages of a call.
void CollectiveRung::wire_overheads(const Inputs& inputs) {
  const Scenario& scenario = inputs.scenario;
  // Channels of one call share the host's links, even where the network model of the run shares none between calls. An
  // overhead is a difference of two calls alone, in which congestion is no part.
  const network_models::ModelEntry& model =
      closed_form_ || !scenario.simulate.network->max_min
          ? *std::ranges::find(network_models::models(), true, &network_models::ModelEntry::shares_links)
          : *scenario.simulate.network;
  const bool by_nccl = !collectives::LibraryCalls::counts(scenario.collectives.library);
  if (!closed_form_ && by_nccl) scalar_sums_.emplace(inputs.choices.steps(), inputs.choices.kernels());
  const auto beyond = [&](const CollectiveChooser& steps) {
    return std::make_unique<CallOverheads>(
        CallOverheads::Inputs{.network = inputs.network,
                              .model = model,
                              .per_host = scenario.cluster.host.gpus,
                              .nic_set_of_host = scenario.cluster.nic_set_of_host,
                              .steps = steps,
                              .progress = inputs.progress,
                              .formula = formula(),
                              .step_costs = scenario.collectives.step_costs,
                              .channels = {.chooser = inputs.choices.kernels(), .costs = scenario.comm.costs},
                              .known = inputs.known != nullptr ? *inputs.known : own_overheads_,
                              .pairs = inputs.pairs,
                              .asked = inputs.asked});
  };
  overheads_ = beyond(steps());
  if (scalar_sums_) beyond_messages_ = beyond(inputs.choices.steps());
}

void CollectiveRung::wire_library(const Inputs& inputs) {
  const Scenario& scenario = inputs.scenario;
  if (collectives::LibraryCalls::counts(scenario.collectives.library)) {
    library_.emplace(
        collectives::LibraryCalls::Inputs{.library = scenario.collectives.library,
                                          .chooser = inputs.choices.steps(),
                                          .costs = scenario.collectives.step_costs,
                                          .host_copy = scenario.comm.costs.host_copy,
                                          .gpu_memory = scenario.cluster.slowest_memory(),
                                          .kernels = overheads_.get()});
  }
  if (closed_form_ && overhead() != nullptr) with_overhead_.emplace(*formula(), *overhead());
}

}  // namespace ringwright::configs
