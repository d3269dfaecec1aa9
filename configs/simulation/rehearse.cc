#include "configs/simulation/rehearse.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/simulation/fault_run.h"
#include "configs/simulation/free_compute.h"
#include "configs/simulation/ring_recorder.h"
#include "core/engine/engine.h"
#include "core/run/shortcuts/pass_groups.h"
#include "core/run/shortcuts/segment_times.h"
#include "core/run/step/executor.h"
#include "core/run/step/lone_rehearsal.h"
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

// When each message arrives that starts at the beginning of a run of its own; messages share no links.
class Arrivals final : public TransferListener {
 public:
  explicit Arrivals(const Engine& engine) : engine_(engine) {}
  void on_arrived(std::uint64_t token) override { time_of_[token] = engine_.now() - TimePoint(); }
  // Of the next message, for its token.
  [[nodiscard]] std::uint64_t expect() {
    time_of_.emplace_back();
    return time_of_.size() - 1;
  }
  [[nodiscard]] Duration time_of(std::uint64_t token) const { return time_of_[token]; }

 private:
  const Engine& engine_;
  std::vector<Duration> time_of_;
};

// The messages of one size of all edges, each alone.
void time_messages(const Scenario& scenario, const Simulation& simulation,
                   const std::vector<RingRecorder::Ring>& recorded, std::size_t size,
                   std::vector<RehearsedRing>& rings) {
  Engine engine;
  FaultRun faults(simulation);
  const auto network = scenario.simulate.network->make({.engine = engine, .router = faults.router()});
  faults.schedule(engine, *network);
  Arrivals arrivals(engine);
  for (const RingRecorder::Ring& ring : recorded) {
    for (const RingRecorder::Edge& edge : ring) {
      if (size >= edge.sizes.size()) continue;
      network->start({.from = edge.from,
                      .to = edge.to,
                      .size = edge.sizes[size],
                      .nics = edge.nics,
                      .label = edge.label,
                      .token = arrivals.expect()},
                     arrivals);
    }
  }
  engine.run();
  std::uint64_t token = 0;
  for (std::size_t r = 0; r < recorded.size(); ++r) {
    for (std::size_t edge = 0; edge < recorded[r].size(); ++edge) {
      if (size >= recorded[r][edge].sizes.size()) continue;
      rings[r].edges[edge].times.push_back(arrivals.time_of(token++));
    }
  }
}

std::vector<RehearsedRing> timed_rings(const Scenario& scenario, const Simulation& simulation,
                                       const std::vector<RingRecorder::Ring>& recorded) {
  std::vector<RehearsedRing> rings;
  std::size_t sizes = 0;
  for (const RingRecorder::Ring& ring : recorded) {
    RehearsedRing& timed = rings.emplace_back();
    for (const RingRecorder::Edge& edge : ring) {
      const ClassId c = simulation.folding().ranks.class_of[edge.from.index()];
      timed.edges.push_back({.rank_class = c, .first = edge.first, .times = {}});
      timed.repeats = edge.repeats;
      timed.overhead = edge.begins - TimePoint();
      sizes = std::max(sizes, edge.sizes.size());
    }
  }
  for (std::size_t size = 0; size < sizes; ++size) time_messages(scenario, simulation, recorded, size, rings);
  return rings;
}

enum class Passes { kTaskByTask, kAlone, kTogether, kWithinHosts };

// What the collectives of passes have in common.
struct CallsOfPasses {
  bool rings = true;         // those among several classes are rings
  bool within_hosts = true;  // each of them
};

CallsOfPasses calls_of_passes(const Simulation& simulation) {
  CallsOfPasses calls;
  const TaskGraph& graph = simulation.plan().graph;
  const RankClasses& classes = simulation.folding().ranks;
  std::set<std::tuple<DimensionId, std::uint32_t, std::uint32_t>> seen;  // and spec, layout
  for (const Segment& segment : graph.segments) {
    for (const Task& task : segment.tasks) {
      if (task.kind != TaskKind::kCollective) continue;
      const Dimension& d = graph.dimensions[task.dimension.index()];
      for (std::size_t c = 0; c < classes.count(); ++c) {
        const std::uint32_t layout = d.layout_of_group[d.group_of[classes.representative[c].index()]];
        if (seen.contains({task.dimension, task.detail, layout})) continue;
        calls.within_hosts = calls.within_hosts && graph.layouts[layout].host_count() == 1;
        if (is_among_equals(graph, classes, ClassId(c), task.dimension)) continue;
        seen.insert({task.dimension, task.detail, layout});
        const CollectiveSpec& spec = graph.collectives[task.detail];
        const CollectiveCall call{.kind = spec.kind,
                                  .bytes = spec.bytes,
                                  .layout = &graph.layouts[layout],
                                  .dimension = task.dimension};
        calls.rings = calls.rings && simulation.steps().choose(call).ring_steps(call);
      }
    }
  }
  return calls;
}

Passes passes_to_rehearse(const Scenario& scenario, const Simulation& simulation) {
  const TaskGraph& graph = simulation.plan().graph;
  const RankClasses& classes = simulation.folding().ranks;
  const bool in_steps = simulation.collective_time() == nullptr && simulation.channels() == nullptr;
  // Where the past of a flow matters, a call that is simulated alone tells little.
  const bool alone = scenario.simulate.network->max_min;
  const bool may = alone && in_steps && simulation.footprint() == nullptr && scenario.faults.last();
  if (!may || graph.segments.empty()) return Passes::kTaskByTask;
  if (segments_stand_alone(graph, classes)) return Passes::kAlone;
  if (simulation.progress() != MemberProgress::kEach || !segments_stand_together(graph, classes)) {
    return Passes::kTaskByTask;
  }
  const CallsOfPasses calls = calls_of_passes(simulation);
  if (calls.rings && scenario.collectives.step_costs.free()) return Passes::kTogether;
  return calls.within_hosts ? Passes::kWithinHosts : Passes::kTaskByTask;
}

}  // namespace

std::optional<RehearsedCalls> rehearse_kernels(const Simulation& simulation, LoneCalls& lone) {
  const TaskGraph& graph = simulation.plan().graph;
  const RankClasses& classes = simulation.folding().ranks;
  if (graph.segments.empty() || segments_send(graph)) return std::nullopt;
  if (!segments_stand_alone(graph, classes) && !segments_stand_together(graph, classes)) return std::nullopt;
  return lone_calls_of_segments(graph, classes, lone);
}

std::optional<RehearsedCalls> rehearse(const Scenario& scenario, const Simulation& simulation,
                                       LoneNetwork* lone) {
  const Passes passes = passes_to_rehearse(scenario, simulation);
  if (passes == Passes::kTaskByTask) return std::nullopt;
  if (passes == Passes::kWithinHosts) {
    if (lone == nullptr) return std::nullopt;
    return lone_calls_of_segments(simulation.plan().graph, simulation.folding().ranks, lone->calls());
  }
  const RankClasses& classes = simulation.folding().ranks;
  const FreeCompute compute;
  Rehearsal rehearsal(simulation.plan().graph, classes);
  LinkOwners owners_of_all(simulation.router().capacities().size(), classes.count());
  for (std::size_t round = 0; round < rehearsal.rounds(); ++round) {
    Engine engine;
    LinkOwners owners(simulation.router().capacities().size(), classes.count());
    FaultRun faults(simulation);
    const OwnersRouter router(faults.router(), classes, owners);
    const auto network = scenario.simulate.network->make({.engine = engine, .router = router});
    faults.schedule(engine, *network);
    RingRecorder recorder(engine, *network);
    const RunResult run = execute({.engine = engine,
                                   .graph = rehearsal.round(round),
                                   .classes = classes,
                                   .network = recorder,
                                   .chooser = simulation.steps(),
                                   .compute = compute,
                                   .step_costs = scenario.collectives.step_costs,
                                   .progress = simulation.progress(),
                                   .call_overhead = simulation.call_overhead()},
                                  rehearsal.options());
    if (owners.shared() || run.outcome == RunOutcome::kClockRanOut) return std::nullopt;
    // Members of several rounds may be in flight at the same time where classes go together.
    for (std::size_t c = 0; passes == Passes::kTogether && c < classes.count(); ++c) {
      for (const LinkId link : owners.links_of()[c]) owners_of_all.add(link, ClassId(c));
    }
    if (owners_of_all.shared()) return std::nullopt;
    const bool known = rehearsal.note(run, owners.links_of(), timed_rings(scenario, simulation, recorder.rings()));
    if (!known) return std::nullopt;
  }
  return rehearsal.take();
}

}  // namespace ringwright::configs
