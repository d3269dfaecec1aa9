#include "configs/simulation/plan_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "configs/simulation/critical_path.h"
#include "configs/simulation/fault_run.h"
#include "configs/simulation/play_spans.h"
#include "configs/simulation/rehearse.h"
#include "configs/simulation/traced_tasks.h"
#include "core/engine/engine.h"
#include "core/plan/segments.h"
#include "core/run/job/job_groups.h"

namespace ringwright::configs {

using network_models::FastForward;

bool goes_fast_forward(const Scenario& scenario, const SimulateOptions& options) {
  return scenario.simulate.fast_forward && options.fast_forward == FastForward::kOn;
}

bool is_traced(const SimulateOptions& options) {
  return options.timeline != nullptr || options.critical_path != PathWish::kNone;
}

PlayedPlan play_once(const Scenario& scenario, const Simulation& simulation, const SimulateOptions& options,
                     const KnownCalls& known, const std::vector<ClassId>& recorded, LinkSampler* links) {
  const bool fast_forward = goes_fast_forward(scenario, options);
  Engine engine;
  FaultRun faults(simulation);
  const auto network = scenario.simulate.network->make(
      {.engine = engine,
       .router = faults.router(),
       .options = {.fast_forward = fast_forward ? FastForward::kOn : FastForward::kOff,
                   .verify_fairness = options.verify_fairness,
                   .patience = scenario.faults.links.empty() ? Duration() : scenario.nccl.knobs.ib_patience(),
                   .cables_with_failover = faults.cables_with_failover(),
                   .unacknowledged = scenario.nccl.knobs.chunk_in_flight(),
                   .ranks_per_host = static_cast<std::uint32_t>(scenario.cluster.host.gpus),
                   .congestion = scenario.simulate.congestion},
       .links = simulation.link_kinds()});
  faults.schedule(engine, *network);
  if (links != nullptr) links->schedule(engine, *network);
  const TaskGraph& graph = known.graph != nullptr ? *known.graph : simulation.plan().graph;
  const bool may_skip = fast_forward && scenario.faults.last() && !is_traced(options);
  PlayedPlan played;
  played.run = execute({.engine = engine,
                        .graph = graph,
                        .classes = simulation.folding().ranks,
                        .network = *network,
                        .chooser = simulation.steps(),
                        .compute = options.compute != nullptr ? *options.compute : *scenario.job.compute,
                        .collective_time = simulation.collective_time(),
                        .step_costs = scenario.collectives.step_costs,
                        .progress = simulation.progress(),
                        .call_overhead = simulation.call_overhead(),
                        .channels = simulation.channels(),
                        .lone = known.lone != nullptr ? &known.lone->calls() : nullptr,
                        .footprint = simulation.footprint(),
                        .rehearsed = known.rehearsed},
                       {.warmup_iterations = scenario.simulate.warmup,
                        .recorded = recorded.empty() ? recorded_classes(simulation, options) : recorded,
                        .record_waits = records_path(simulation, options.critical_path),
                        .observer = options.observer,
                        .skip_repeated_iterations = may_skip,
                        .pass_segments_at_once = fast_forward,
                        .host_awaits_receives = !scenario.job.parallel.overlap_p2p,
                        .figures = options.figures,
                        .nearly_equal = {.tolerance = scenario.simulate.cycle_tolerance,
                                         .after_events = options.nearly_equal_after},
                        .most_void_events = known.most_void_events,
                        .windows = options.windows});
  played.events = engine.events_run() - (links != nullptr ? links->events() : 0);
  played.counters = network->counters();
  return played;
}

namespace {

// With calls of kernels at once. A run in which some clash is void, and repeated with these chunk by chunk; one in
// which passes are disturbed, task by task. Empty: void runs and calls alone took a good part of the events of all
// chunks, which are to be simulated then.
std::optional<PlayedPlan> play_kernels(const Scenario& scenario, const Simulation& simulation,
                                       const SimulateOptions& options, LoneNetwork& lone) {
  constexpr int kMostRuns = 6;
  constexpr double kMostEvents = 1.25;  // for each task and message; chunk by chunk they take 0.7 to 5
  const Estimate all = estimate(simulation);
  const double most = kMostEvents * (all.tasks + all.messages);
  double events = 0.0;  // of void runs
  std::optional<RehearsedCalls> rehearsed = rehearse_kernels(simulation, lone.calls());
  for (int run = 0; run < kMostRuns && events + static_cast<double>(lone.events()) < most; ++run) {
    const std::size_t clashes = lone.calls().clashes();
    const double left = most - events - static_cast<double>(lone.events());
    PlayedPlan played = play_once(scenario, simulation, options,
                                  {.rehearsed = rehearsed ? &*rehearsed : nullptr,
                                   .lone = &lone,
                                   .most_void_events = static_cast<std::uint64_t>(left)});
    events += static_cast<double>(played.events);
    played.events += lone.events();
    if (played.run.outcome != RunOutcome::kDisturbed) return played;
    if (lone.calls().clashes() > clashes) continue;
    if (!rehearsed) return std::nullopt;
    rehearsed.reset();
  }
  return std::nullopt;
}

// Tasks that the programs of all classes list; a run takes at least as many events.
struct ListedTasks {
  std::uint64_t all = 0;
  std::uint64_t calls_within_hosts = 0;
};

ListedTasks listed_tasks(const Simulation& simulation) {
  const TaskGraph& graph = simulation.plan().graph;
  const JobGroups groups{.graph = graph, .classes = simulation.folding().ranks};
  ListedTasks listed;
  for (std::size_t c = 0; c < groups.classes.count(); ++c) {
    const Program& program = graph.programs[graph.program_of[groups.rank_of(ClassId(c)).index()].index()];
    listed.all += program.tasks.size();
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::kCollective) continue;
      const std::uint32_t layout = groups.layout_of(ClassId(c), task.dimension);
      if (graph.layouts[layout].host_count() == 1) ++listed.calls_within_hosts;
    }
  }
  return listed;
}

// In steps, with passes and calls within hosts at once. A run in which some are disturbed is void, and is repeated with
// passes during other collectives task by task, then with all of the ranks of the passes that are still disturbed and
// with these calls step by step: faults and routes make few of them share links with other traffic. Empty: nothing is
// at once.
std::optional<PlayedPlan> play_steps(const Scenario& scenario, const Simulation& simulation,
                                     const SimulateOptions& options, LoneNetwork* lone) {
  constexpr int kMostRuns = 6;
  constexpr std::size_t kMostShare = 4;  // a quarter of the ranks task by task
  const RankClasses& classes = simulation.folding().ranks;
  std::optional<RehearsedCalls> rehearsed = rehearse(scenario, simulation, lone);
  // Void runs go on for a while, to find all calls within hosts that clash; beyond that these calls go step by step,
  // and so they do where they are too few to make up for a void run.
  constexpr std::uint64_t kLeastShare = 8;
  const ListedTasks listed = lone != nullptr ? listed_tasks(simulation) : ListedTasks{};
  const bool many_calls = listed.calls_within_hosts * kLeastShare >= listed.all;
  const std::uint64_t most_void_events = many_calls ? 2 * listed.all : 0;
  std::uint64_t void_events = 0;
  std::vector<bool> by_task(classes.class_of.size(), false);
  std::optional<TaskGraph> graph;
  std::optional<TaskGraph> around;  // with passes outside of the time of other collectives only
  for (int run = 0; run < kMostRuns; ++run) {
    LoneNetwork* const at_once = void_events < most_void_events ? lone : nullptr;
    if (!rehearsed && at_once == nullptr) return std::nullopt;
    const TaskGraph* const longer = graph ? &*graph : around ? &*around : nullptr;
    KnownCalls known{.graph = longer, .rehearsed = rehearsed ? &*rehearsed : nullptr, .lone = at_once};
    if (at_once != nullptr) known.most_void_events = most_void_events - void_events;
    PlayedPlan played = play_once(scenario, simulation, options, known);
    void_events += played.events;
    if (played.run.outcome != RunOutcome::kDisturbed) {
      played.events = void_events + (lone != nullptr ? lone->events() : 0);
      return played;
    }
    // Gradients or parameters in flight on the links of passes disturb those of all ranks.
    if (run == 0 && rehearsed) around = written_out_around_collectives(simulation.plan().graph);
    if (run == 0 && around) continue;
    std::size_t more = 0;
    for (std::size_t rank = 0; rank < by_task.size(); ++rank) {
      if (by_task[rank] || !std::ranges::binary_search(played.run.disturbed, classes.class_of[rank])) continue;
      by_task[rank] = true;
      ++more;
    }
    const auto share = static_cast<std::size_t>(std::ranges::count(by_task, true)) * kMostShare;
    if (share > by_task.size()) rehearsed.reset();
    if (!rehearsed) {
      graph.reset();
      around.reset();
    }
    if (rehearsed && more > 0) graph = written_out_for(around ? *around : simulation.plan().graph, by_task);
  }
  return std::nullopt;
}

}  // namespace

PlayedPlan play_plan(const Scenario& scenario, const Simulation& simulation, const SimulateOptions& options) {
  // Several jobs share links, so that calls seldom take as long as alone.
  if (goes_fast_forward(scenario, options) && simulation.plan().graph.jobs.empty()) {
    const std::unique_ptr<LoneNetwork> lone = make_lone_network(scenario, simulation);
    const std::optional<PlayedPlan> played = simulation.channels() != nullptr && lone != nullptr
                                                 ? play_kernels(scenario, simulation, options, *lone)
                                                 : play_steps(scenario, simulation, options, lone.get());
    if (played) return *played;
  }
  return play_once(scenario, simulation, options, {});
}

PlayedPlan play_with_spans(const Scenario& scenario, const Simulation& simulation) {
  std::vector<ClassId> all;
  for (std::size_t c = 0; c < simulation.folding().ranks.count(); ++c) all.emplace_back(c);
  return play_once(scenario, simulation, {.fast_forward = FastForward::kOff}, {}, all);
}

}  // namespace ringwright::configs
