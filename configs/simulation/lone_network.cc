#include "configs/simulation/lone_network.h"

#include <memory>
#include <vector>

#include "core/run/collectives/collective_player.h"
#include "core/run/job/job_groups.h"
#include "core/run/kernels/chunk_player.h"
#include "core/run/shortcuts/pass_groups.h"

namespace ringwright::configs {

std::unique_ptr<CollectiveRunner> LoneNetwork::make(PlayedJob& job) const {
  if (simulation_.channels() != nullptr) return std::make_unique<ChunkPlayer>(job, *simulation_.channels());
  return std::make_unique<CollectivePlayer>(job, simulation_.steps(), scenario_.collectives.step_costs,
                                            simulation_.call_overhead());
}

LoneNetwork::LoneNetwork(const Scenario& scenario, const Simulation& simulation)
    : scenario_(scenario),
      simulation_(simulation),
      faults_(simulation),
      capacities_(faults_.first_capacities()),
      network_(scenario.simulate.network->make({.engine = engine_,
                                                .router = faults_.router(),
                                                .options = {.congestion = scenario.simulate.congestion},
                                                .links = simulation.link_kinds()})),
      calls_({.engine = engine_,
              .network = *network_,
              .router = faults_.router(),
              .capacities = capacities_,
              .graph = simulation.plan().graph,
              .classes = simulation.folding().ranks,
              .kernels = simulation.channels() != nullptr ? &simulation.channels()->chooser : nullptr,
              .maker = *this}) {
  faults_.schedule(engine_, *network_);
}

namespace {

// Some ranks of a group within a host are of several classes.
bool differ_within_hosts(const Simulation& simulation) {
  const TaskGraph& graph = simulation.plan().graph;
  const JobGroups groups{.graph = graph, .classes = simulation.folding().ranks};
  for (std::size_t d = 0; d < graph.dimensions.size(); ++d) {
    for (std::size_t c = 0; c < groups.classes.count(); ++c) {
      const bool within = graph.layouts[groups.layout_of(ClassId(c), DimensionId(d))].host_count() == 1;
      if (within && !is_among_equals(graph, groups.classes, ClassId(c), DimensionId(d))) return true;
    }
  }
  return false;
}

}  // namespace

std::unique_ptr<LoneNetwork> make_lone_network(const Scenario& scenario, const Simulation& simulation) {
  const bool lasting = scenario.simulate.network->max_min && scenario.faults.last();
  const bool alone = simulation.footprint() == nullptr && simulation.plan().graph.jobs.empty();
  if (!lasting || !alone || simulation.collective_time() != nullptr) return nullptr;
  const bool in_steps = simulation.progress() == MemberProgress::kEach && differ_within_hosts(simulation);
  if (simulation.channels() == nullptr && !in_steps) return nullptr;
  return std::make_unique<LoneNetwork>(scenario, simulation);
}

}  // namespace ringwright::configs
