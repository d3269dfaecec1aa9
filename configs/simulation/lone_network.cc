#include "configs/simulation/lone_network.h"

#include <memory>

#include "core/run/collectives/collective_player.h"
#include "core/run/kernels/chunk_player.h"

namespace ringwright::configs {

std::unique_ptr<CollectiveRunner> LoneNetwork::make(PlayedJob& job) const {
  if (simulation_.channels() != nullptr) return std::make_unique<ChunkPlayer>(job, *simulation_.channels());
  return std::make_unique<CollectivePlayer>(job, simulation_.chooser(), scenario_.collectives.step_costs,
                                            simulation_.call_overhead());
}

LoneNetwork::LoneNetwork(const Scenario& scenario, const Simulation& simulation)
    : scenario_(scenario),
      simulation_(simulation),
      faults_(simulation),
      network_(scenario.simulate.network->make({.engine = engine_,
                                                .router = faults_.router(),
                                                .options = {.congestion = scenario.simulate.congestion},
                                                .links = simulation.link_kinds()})),
      calls_({.engine = engine_,
              .network = *network_,
              .router = faults_.router(),
              .graph = simulation.plan().graph,
              .classes = simulation.folding().ranks,
              .kernels = simulation.channels() != nullptr ? &simulation.channels()->chooser : nullptr,
              .maker = *this}) {
  faults_.schedule(engine_, *network_);
}

std::unique_ptr<LoneNetwork> make_lone_network(const Scenario& scenario, const Simulation& simulation) {
  const bool lasting = scenario.simulate.network->max_min && scenario.faults.links.empty();
  const bool alone = simulation.footprint() == nullptr && simulation.plan().graph.jobs.empty();
  if (simulation.channels() == nullptr || !lasting || !alone) return nullptr;
  return std::make_unique<LoneNetwork>(scenario, simulation);
}

}  // namespace ringwright::configs
