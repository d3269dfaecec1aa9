#include "configs/simulation/simulate.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/checkpoint_facts.h"
#include "configs/simulation/clock_range.h"
#include "configs/simulation/collective_table.h"
#include "configs/simulation/critical_path.h"
#include "configs/simulation/data_wait.h"
#include "configs/simulation/idle_tiers.h"
#include "configs/simulation/kernel_table.h"
#include "configs/simulation/link_sampler.h"
#include "configs/simulation/link_tiers.h"
#include "configs/simulation/machine_overheads.h"
#include "configs/simulation/outer_steps.h"
#include "configs/simulation/plan_run.h"
#include "configs/simulation/run_cost.h"
#include "configs/simulation/step_facts.h"
#include "configs/simulation/step_messages.h"
#include "configs/simulation/traced_tasks.h"
#include "configs/simulation/unshared_links.h"
#include "core/config/key_effect.h"

namespace ringwright::configs {
namespace {

constexpr std::size_t kLinksShown = 10;
constexpr std::size_t kLinksOfOneSort = 3;

std::vector<LinkLoad> busiest_links(const Simulation& simulation, const std::vector<LinkUsage>& usage,
                                    Duration elapsed) {
  const LinkClasses& links = simulation.folding().links;
  const std::span<const Bandwidth> capacities = simulation.router().capacities();
  std::vector<std::size_t> order;
  const auto load = [&](std::size_t link) { return usage[link].bytes / capacities[link].count(); };
  for (std::size_t link = 0; link < usage.size(); ++link) {
    if (usage[link].bytes > 0.0) order.push_back(link);
  }
  std::ranges::sort(order,
                    [&](std::size_t a, std::size_t b) { return load(a) > load(b) || (!(load(b) > load(a)) && a < b); });
  // Of each kind (GPU to NVSwitch, leaf to spine, ...) a few with different loads: otherwise links of the busiest kind
  // would fill the table.
  const Fabric& fabric = simulation.network().fabric;
  std::map<std::pair<NodeKind, NodeKind>, std::set<std::int64_t>> shown;  // loads in bytes
  std::vector<LinkLoad> result;
  for (const std::size_t link : order) {
    const LinkSpec& spec = fabric.link(links.representative[link]);
    std::set<std::int64_t>& of_sort = shown[{fabric.node(spec.from).kind, fabric.node(spec.to).kind}];
    if (of_sort.size() == kLinksOfOneSort || result.size() == kLinksShown) continue;
    if (!of_sort.insert(std::llround(usage[link].bytes)).second) continue;
    result.push_back({.name = fabric.name(links.representative[link]),
                      .utilisation = load(link) / to_seconds(elapsed),
                      .bytes = Bytes(std::llround(usage[link].bytes)),
                      .multiplicity = links.size[link]});
  }
  return result;
}

Bytes peak_resident_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Bytes(usage.ru_maxrss * 1024);
}

// Why `collectives.ep.algorithm` and the like have no effect; empty where they have one.
std::string_view why_idle(const Scenario& scenario, const std::string& dimension, const StepFacts& facts) {
  std::size_t calls = 0, in_pairs = 0;
  for (const CollectiveUse& use : facts.collectives) {
    if (use.dimension != dimension) continue;
    ++calls;
    in_pairs += use.algorithm == "p2p" ? 1U : 0U;
  }
  if (calls == 0) return "no collective of this dimension is called in the job's step";
  if (scenario.collectives.rung != collectives::Rung::kChunks || in_pairs < calls) return "";
  return "kernels exchange with every peer by point-to-point messages, whatever the algorithm";
}

void list_idle_choices(const Scenario& scenario, StepFacts& facts) {
  for (const collectives::DimensionChoice& choice : scenario.collectives.choices) {
    const std::string_view why = why_idle(scenario, choice.dimension, facts);
    if (why.empty()) continue;
    for (const std::string_view key : {"algorithm", "from"}) {
      const std::string path = fmt::format("collectives.{}.{}", choice.dimension, key);
      const auto value = std::ranges::find(scenario.document.log().values(), path, &ValueRead::path);
      if (value == scenario.document.log().values().end() || !is_given(*value)) continue;
      if (std::ranges::find(facts.ignored, path, &IgnoredKnob::path) != facts.ignored.end()) continue;
      facts.ignored.push_back({.path = path, .why = std::string(why)});
    }
  }
}

// When the step ends is known after a run without a timeline, which takes less time than the one with it.
std::optional<LinkSampler> link_sampler(const Scenario& scenario, const Simulation& simulation,
                                        const SimulateOptions& options) {
  if (options.timeline == nullptr || !options.timeline->links) return std::nullopt;
  SimulateOptions untraced = options;
  untraced.timeline = nullptr;
  untraced.critical_path = PathWish::kNone;
  untraced.observer = nullptr;
  const PlayedPlan played = play_plan(scenario, simulation, untraced);
  if (played.run.outcome != RunOutcome::kFinished) return std::nullopt;
  return LinkSampler(simulation, played.run, traced(simulation, options).steps.back());
}

traces::Timeline recorded_timeline(const Scenario& scenario, const Simulation& simulation,
                                   const SimulateOptions& options, const RunRecord& record,
                                   const std::optional<LinkSampler>& links) {
  traces::Timeline timeline =
      traces::timeline_of(record, simulation.plan().graph, simulation.folding().ranks, traced(simulation, options));
  timeline.title = scenario.name;
  if (links) timeline.links = links->curves();
  return timeline;
}

void add_engine_facts(const Scenario& scenario, const Simulation& simulation, const PlayedPlan& played,
                      StepFacts& facts) {
  facts.engine.network = scenario.simulate.network->name;
  state_rung(scenario, simulation, facts);
  for (const ValueRead& value : scenario.document.log().values()) {
    if (value.path == "compute.model" || value.path == "workload.compute") facts.engine.compute = value.text;
  }
  facts.engine.interference = scenario.interference.counts ? "share" : "none";
  facts.engine.events = played.events;
  facts.engine.classes = simulation.folding().ranks.count();
  if (simulation.is_folded()) facts.engine.little_folded = why_little_folded(simulation.folding());
  for (const auto& counter : played.counters) {
    facts.engine.counters.push_back({.name = counter.name, .value = counter.value});
  }
  if (played.run.skipped_iterations > 0) {
    facts.engine.counters.push_back(
        {.name = "training steps fast-forwarded", .value = static_cast<std::uint64_t>(played.run.skipped_iterations)});
  }
  const std::uint32_t left_out = simulation.plan().graph.cycles_left_out;
  if (const std::uint32_t cycles = left_out - played.run.cycles_taken_in; cycles > 0) {
    const auto played_steps =
        static_cast<std::uint64_t>(simulation.plan().graph.iterations - played.run.skipped_iterations);
    facts.engine.counters.push_back({.name = "cycles of the pipeline fast-forwarded", .value = cycles * played_steps});
    if (played.run.most_change > Duration(0)) {
      facts.engine.nearly_equal_cycles = cycles * played_steps;
      facts.engine.most_change = played.run.most_change;
    }
  }
}

}  // namespace

Outcome simulate(const Scenario& scenario, const Simulation& simulation, const SimulateOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  std::optional<LinkSampler> links = link_sampler(scenario, simulation, options);
  PlayedPlan played =
      links ? play_once(scenario, simulation, options, {}, {}, &*links) : play_plan(scenario, simulation, options);
  RunResult& run = played.run;
  Outcome outcome{.end = run.outcome, .report = {}, .stall = std::move(run.stall)};
  if (run.outcome == RunOutcome::kClockRanOut) outcome.late = ends_too_late(scenario.simulate, run);
  if (run.outcome != RunOutcome::kFinished) {
    if (outcome.stall.broken) outcome.stall.notes = tell_given_up(scenario, simulation, outcome.stall);
    for (std::string& link : links_down_at(scenario.faults, outcome.stall.at)) {
      outcome.stall.notes.push_back(std::move(link));
    }
    return outcome;
  }

  if (options.timeline != nullptr) {
    outcome.timeline = recorded_timeline(scenario, simulation, options, run.record, links);
  }
  StepFacts facts = job_facts(scenario, simulation);
  for (const IgnoredKey& key : simulation.ignored()) facts.ignored.push_back({.path = key.path, .why = key.why});
  // Not the engine's time: faults that end after the run are still among its events.
  const TimePoint end = run.record.iteration_end.back();
  std::optional<CriticalPath> path = recorded_path(simulation, run.record);
  facts.data = wait_for_data(scenario, run.record.iteration_end);
  if (options.with_exchange) facts.outer = add_outer_steps(scenario, *options.with_exchange, run.record.iteration_end);
  const Duration whole = run.record.iteration_end.back().since_start();
  facts.links = busiest_links(simulation, run.usage, whole);
  facts.link_tiers = LinkTiers(simulation).read(run.usage, whole);
  facts.kernels = kernel_table(scenario, simulation.plan().graph);
  facts.memory_bandwidth = scenario.cluster.gpu.memory_bandwidth;
  facts.collectives = collective_table(simulation, run.record);
  list_idle_choices(scenario, facts);
  note_unshared_links(scenario, simulation, facts);
  if (outcome.timeline) {
    outcome.timeline->memory =
        traces::memory_curves(*outcome.timeline, facts.memory, traces::most_memory_values(options.timeline->form));
  }
  const LinksMeet met = links_meet(scenario, simulation);
  if (met == LinksMeet::kAll) {
    std::ranges::move(idle_tier_settings(scenario.document.log(), facts.link_tiers), std::back_inserter(facts.ignored));
  }
  add_disturbances(scenario, met, end, facts);
  note_no_path(simulation, options.critical_path, facts);
  facts.checkpoint = checkpoint_facts(scenario, simulation, run.record);
  add_engine_facts(scenario, simulation, played, facts);
  facts.engine.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  facts.engine.peak_memory = peak_resident_memory();
  outcome.report =
      summarise({.record = run.record, .graph = simulation.plan().graph, .classes = simulation.folding().ranks},
                std::move(facts));
  if (path) add_data_wait(run.record.iteration_end, *path);
  outcome.report->critical_path = std::move(path);
  return outcome;
}

std::vector<workload::Passes> passes_to_try(const Scenario& scenario, Checkpointing checkpointing) {
  const bool saves = scenario.checkpoint && checkpointing == Checkpointing::kAsGiven;
  // What changes with time differs between two cycles.
  const bool lasting = scenario.faults.last() && scenario.background.transfers.empty() && !saves;
  if (!scenario.simulate.fast_forward || !lasting || !scenario.job.trains_transformer())
    return {workload::Passes::kAsSegments};
  // Kernels are twice in the same state where they are computed at once: soon or never.
  if (scenario.collectives.rung == collectives::Rung::kChunks) {
    // Under contention they are not computed at once.
    if (!scenario.simulate.network->max_min || scenario.interference.counts) return {workload::Passes::kAsSegments};
    return {workload::Passes::kFewCycles, workload::Passes::kAsSegments};
  }
  // Those that converge take further cycles in, and each cycle simulated in vain is expensive.
  if (scenario.interference.counts) return {workload::Passes::kFewCycles, workload::Passes::kAsSegments};
  return {workload::Passes::kFewCycles, workload::Passes::kManyCycles, workload::Passes::kAsSegments};
}

namespace {

Result<Outcome> simulate_steps(const Scenario& scenario, FoldMode fold, const SimulateOptions& given,
                               Checkpointing checkpointing, OuterStep outer_step = OuterStep::kLeftOut) {
  SimulateOptions options = given;
  std::vector<workload::Passes> paths = passes_to_try(scenario, checkpointing);
  if (fold == FoldMode::kNoFold || !goes_fast_forward(scenario, options) || is_traced(options)) {
    paths = {workload::Passes::kAsSegments};
  }
  network_models::Network network = scenario.cluster.topology->build();
  KnownOverheads own_overheads;
  if (options.store != nullptr) own_overheads.retain_in(options.store, machine_of(scenario));
  Simulation::Kept kept;
  Outcome outcome;
  for (const workload::Passes passes : paths) {
    kept.overheads = options.overheads != nullptr ? options.overheads : &own_overheads;
    kept.cores_are_idle = options.overheads == nullptr;
    workload::StepPlan plan = plan_step(scenario, passes, checkpointing, outer_step);
    auto simulation = Simulation::assemble(scenario, std::move(plan), std::move(network), fold, std::move(kept));
    if (!simulation) return tl::unexpected(std::move(simulation.error()));
    if (Diagnostics costly = too_costly(scenario, cost_of_playing(scenario, **simulation)); costly.has_errors()) {
      return tl::unexpected(std::move(costly));
    }
    if (Diagnostics wrong = check_timeline(**simulation, options); wrong.has_errors()) {
      return tl::unexpected(std::move(wrong));
    }
    if (Diagnostics wrong = check_path(**simulation, options.critical_path); wrong.has_errors()) {
      return tl::unexpected(std::move(wrong));
    }
    outcome = simulate(scenario, **simulation, options);
    if (outcome.end != RunOutcome::kUnproven) break;
    kept = std::move(**simulation).take_kept();
    kept.folding = std::move(**simulation).take_folding();
    network = std::move(**simulation).take_network();
  }
  return outcome;
}

// Steps without an exchange of workers that train on their own, with the mean share of one with it.
Result<Outcome> simulate_mean(const Scenario& scenario, FoldMode fold, const SimulateOptions& given,
                              Checkpointing checkpointing) {
  SimulateOptions options = given;
  if (scenario.job.trains_transformer() && scenario.job.training.local_sgd.on()) {
    options.timeline = nullptr;
    const Result<Outcome> outer_step = simulate_steps(scenario, fold, options, checkpointing, OuterStep::kInEveryStep);
    if (!outer_step || !outer_step->report) return outer_step;
    options = given;
    options.with_exchange = outer_step->report->step_time.mean;
  }
  return simulate_steps(scenario, fold, options, checkpointing);
}

}  // namespace

Result<Outcome> simulate(const Scenario& scenario, FoldMode fold, const SimulateOptions& options) {
  if (scenario.job.layered && scenario.job.layered->layout.service.updates != workload::ServerUpdates::kSync) {
    return tl::unexpected(failure("E549", "workers of asynchronous parameter servers have no common training step",
                                  Place{.file = scenario.simulate.steps_at.file},
                                  "`ringwright servers FILE` simulates them; or 'updates: sync'"));
  }
  Result<Outcome> outcome = simulate_mean(scenario, fold, options, options.checkpointing);
  if (!outcome || !outcome->report || !outcome->report->facts.checkpoint) return outcome;
  SimulateOptions plain = options;
  plain.timeline = nullptr;
  plain.critical_path = PathWish::kNone;
  const Result<Outcome> without = simulate_mean(scenario, fold, plain, Checkpointing::kLeftOut);
  if (!without || !without->report) return without;
  add_stall(*without->report, *outcome->report);
  return outcome;
}

}  // namespace ringwright::configs
