#include "configs/simulation/lone_network.h"

namespace ringwright::configs {

LoneNetwork::LoneNetwork(const Scenario& scenario, const Simulation& simulation)
    : network_(scenario.simulate.network->make({.engine = engine_,
                                                .router = simulation.router(),
                                                .options = {.congestion = scenario.simulate.congestion},
                                                .links = simulation.link_kinds()})),
      calls_({.engine = engine_,
              .network = *network_,
              .router = simulation.router(),
              .graph = simulation.plan().graph,
              .classes = simulation.folding().ranks,
              .channels = *simulation.channels()}) {}

std::unique_ptr<LoneNetwork> make_lone_network(const Scenario& scenario, const Simulation& simulation) {
  const bool lasting = scenario.simulate.network->max_min && scenario.faults.links.empty();
  const bool alone = simulation.footprint() == nullptr && simulation.plan().graph.jobs.empty();
  if (simulation.channels() == nullptr || !lasting || !alone) return nullptr;
  return std::make_unique<LoneNetwork>(scenario, simulation);
}

}  // namespace ringwright::configs
