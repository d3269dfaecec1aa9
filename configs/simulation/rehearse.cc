#include "configs/simulation/rehearse.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "configs/simulation/free_compute.h"
#include "core/engine/engine.h"
#include "core/run/shortcuts/segment_times.h"
#include "core/run/step/executor.h"
#include "core/run/step/rehearsal.h"

namespace ringwright::configs {
namespace {

// Which class of ranks started transfers on which links.
class LinkOwners {
 public:
  LinkOwners(std::size_t links, std::size_t classes) : owner_(links, kNobody), links_of_(classes) {}

  void add(LinkId link, ClassId rank_class) {
    std::uint32_t& owner = owner_[link.index()];
    if (owner == rank_class.value) return;
    shared_ = shared_ || owner != kNobody;
    owner = rank_class.value;
    links_of_[rank_class.index()].push_back(link);
  }
  [[nodiscard]] bool shared() const { return shared_; }
  [[nodiscard]] const std::vector<std::vector<LinkId>>& links_of() const { return links_of_; }

 private:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> owner_;  // by link
  std::vector<std::vector<LinkId>> links_of_;
  bool shared_ = false;
};

class OwnersRouter final : public Router {
 public:
  OwnersRouter(const Router& router, const RankClasses& classes, LinkOwners& owners)
      : router_(router), classes_(classes), owners_(owners) {}

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const Duration latency = router_.route(query, hops);
    const RankId starter = query.route_kind == RouteKind::kDownFromSwitch ? query.to : query.from;
    for (const Hop& hop : hops) owners_.add(hop.link, classes_.class_of[starter.index()]);
    return latency;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_.capacities(); }

 private:
  const Router& router_;
  const RankClasses& classes_;
  LinkOwners& owners_;
};

bool may_rehearse(const Scenario& scenario, const Simulation& simulation) {
  const TaskGraph& graph = simulation.plan().graph;
  const bool in_steps = simulation.collective_time() == nullptr && simulation.channels() == nullptr;
  // Where the past of a flow matters, a call that is simulated alone tells little.
  const bool alone = scenario.simulate.network->max_min;
  return alone && in_steps && simulation.footprint() == nullptr && scenario.faults.links.empty() &&
         !graph.segments.empty() && segments_stand_alone(graph, simulation.folding().ranks);
}

}  // namespace

std::optional<RehearsedCalls> rehearse(const Scenario& scenario, const Simulation& simulation) {
  if (!may_rehearse(scenario, simulation)) return std::nullopt;
  const RankClasses& classes = simulation.folding().ranks;
  const FreeCompute compute;
  Rehearsal rehearsal(simulation.plan().graph, classes);
  for (std::size_t round = 0; round < rehearsal.rounds(); ++round) {
    Engine engine;
    LinkOwners owners(simulation.router().capacities().size(), classes.count());
    const OwnersRouter router(simulation.router(), classes, owners);
    const auto network = scenario.simulate.network->make({.engine = engine, .router = router});
    const RunResult run = execute({.engine = engine,
                                   .graph = rehearsal.round(round),
                                   .classes = classes,
                                   .network = *network,
                                   .chooser = simulation.chooser(),
                                   .compute = compute,
                                   .step_costs = scenario.collectives.step_costs,
                                   .progress = simulation.progress(),
                                   .call_overhead = simulation.call_overhead()},
                                  rehearsal.options());
    if (owners.shared() || run.outcome == RunOutcome::kClockRanOut) return std::nullopt;
    rehearsal.note(run, owners.links_of());
  }
  return rehearsal.take();
}

}  // namespace ringwright::configs
