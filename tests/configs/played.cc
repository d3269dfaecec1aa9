// Loads, assembles and simulates the scenarios of tests.
#include "tests/configs/played.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "configs/simulation/lone_network.h"
#include "configs/simulation/rehearse.h"
#include "configs/simulation/simulate.h"
#include "core/engine/engine.h"

namespace ringwright::configs {

Scenario load(std::string_view text, std::vector<std::string> overrides, KnownFiles* known) {
  auto scenario = load_scenario_text("test.yaml", text,
                                     {.overrides = std::move(overrides), .share_folders = {}, .known = known});
  if (!scenario) throw std::runtime_error(render(scenario.error()) + std::string(text));
  return std::move(*scenario);
}

std::unique_ptr<Simulation> assemble(const Scenario& scenario, FoldMode fold) {
  auto simulation = Simulation::assemble(scenario, fold);
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  return std::move(*simulation);
}

Played::Played() = default;
Played::~Played() = default;
Played::Played(const Played& other) = default;
Played::Played(Played&& other) noexcept = default;
Played& Played::operator=(const Played& other) = default;
Played& Played::operator=(Played&& other) noexcept = default;

std::size_t Played::dimension(std::string_view name) const {
  for (std::size_t d = 0; d < graph.dimensions.size(); ++d) {
    if (graph.dimensions[d].name == name) return d;
  }
  throw std::runtime_error("no dimension " + std::string(name));
}

Bytes Played::sent(std::size_t rank, std::string_view name) const {
  return record.sent[folding.ranks.class_of[rank].index()][dimension(name)];
}

Duration Played::in_flight(std::size_t rank, std::string_view name) const {
  const ActivityMask bit = communicating(DimensionId(dimension(name)));
  Duration sum;
  for (const auto& [mask, time] : record.time_in[folding.ranks.class_of[rank].index()].entries()) {
    if ((mask & bit) != 0) sum += time;
  }
  return sum;
}

RunResult run_on(const Scenario& scenario, const Simulation& simulation, const Router& router, Engine& engine,
                 SegmentPlay segments, const RehearsedCalls* rehearsed) {
  const auto network = scenario.simulate.network->make({.engine = engine,
                                                         .router = router,
                                                         .options = {.congestion = scenario.simulate.congestion},
                                                         .links = simulation.link_kinds()});
  return execute({.engine = engine,
                  .graph = simulation.plan().graph,
                  .classes = simulation.folding().ranks,
                  .network = *network,
                  .chooser = simulation.steps(),
                  .compute = *scenario.job.compute,
                  .collective_time = simulation.collective_time(),
                  .step_costs = scenario.collectives.step_costs,
                  .progress = simulation.progress(),
                  .call_overhead = simulation.call_overhead(),
                  .channels = simulation.channels(),
                  .footprint = simulation.footprint(),
                  .rehearsed = rehearsed},
                 {.warmup_iterations = scenario.simulate.warmup,
                  .pass_segments_at_once = segments == SegmentPlay::kAtOnce,
                  .host_awaits_receives = !scenario.job.parallel.overlap_p2p});
}

Played play(const Scenario& scenario, FoldMode fold, SegmentPlay segments) {
  const auto simulation = assemble(scenario, fold);
  std::optional<RehearsedCalls> rehearsed;
  const std::unique_ptr<LoneNetwork> lone = make_lone_network(scenario, *simulation);
  if (segments == SegmentPlay::kAtOnce) rehearsed = rehearse(scenario, *simulation, lone.get());
  Engine engine;
  RunResult run =
      run_on(scenario, *simulation, simulation->router(), engine, segments, rehearsed ? &*rehearsed : nullptr);
  Played played;
  played.outcome = run.outcome;
  played.record = std::move(run.record);
  played.graph = simulation->plan().graph;
  played.folding = simulation->folding();
  played.fingerprint = engine.fingerprint();
  played.events = engine.events_run();
  if (run.outcome == RunOutcome::kDisturbed) return play(scenario, fold, SegmentPlay::kByTask);
  if (run.outcome != RunOutcome::kFinished) throw std::runtime_error("did not finish: " + render(run.stall));
  for (const ClassId rank_class : played.folding.ranks.class_of) {
    played.finished_at.push_back(played.record.finished_at[rank_class.index()]);
  }
  for (const std::uint32_t link_class : played.folding.links.class_of) played.usage.push_back(run.usage[link_class]);
  return played;
}

Played play_as_run(const Scenario& scenario, FoldMode fold, network_models::FastForward fast_forward) {
  const auto simulation = assemble(scenario, fold);
  PlayedPlan plan = play_plan(scenario, *simulation, {.fast_forward = fast_forward});
  Played played;
  played.outcome = plan.run.outcome;
  played.events = plan.events;
  played.folding = simulation->folding();
  played.record = std::move(plan.run.record);
  played.finished_at = played.record.finished_at;
  played.usage = std::move(plan.run.usage);
  return played;
}

std::string json_part(const std::string& json, std::string_view name) {
  const std::size_t begin = json.find("\"" + std::string(name) + "\": ");
  if (begin == std::string::npos) return {};
  int depth = 0;
  for (std::size_t i = begin; i < json.size(); ++i) {
    if (json[i] == '{' || json[i] == '[') ++depth;
    if ((json[i] == '}' || json[i] == ']') && --depth == 0) return json.substr(begin, i + 1 - begin);
  }
  return {};
}

std::string result_of(std::string_view text, std::vector<std::string> overrides) {
  const auto outcome = simulate(load(text, std::move(overrides)), FoldMode::kFold);
  if (!outcome || !outcome->report) return "none";
  Report report = *outcome->report;
  report.facts.config.clear();
  report.facts.config_sha256.clear();
  report.facts.assumptions.clear();
  report.facts.warnings.clear();
  report.facts.engine.wall_seconds = 0.0;
  report.facts.engine.peak_memory = Bytes(0);
  return render_json(report);
}

std::string refusal_of(const std::string& text, std::vector<std::string> overrides) {
  const auto scenario =
      load_scenario_text("test.yaml", text, {.overrides = std::move(overrides), .share_folders = {}});
  return scenario ? "" : render(scenario.error());
}

}  // namespace ringwright::configs
