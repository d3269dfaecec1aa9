// Runs a scenario written in a test, and lays out what happened by rank and by link, folded or not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "configs/rehearse.h"
#include "configs/scenario.h"
#include "configs/simulate.h"
#include "configs/simulation.h"
#include "core/engine/engine.h"
#include "core/run/executor.h"

namespace ringwright::configs {

// Throws, so that a test with a broken scenario ends there and says why.
[[nodiscard]] inline Scenario load(std::string_view text, std::vector<std::string> overrides = {}) {
  auto scenario = load_scenario_text("test.yaml", text, {.overrides = std::move(overrides), .share_folders = {}});
  if (!scenario) throw std::runtime_error(render(scenario.error()) + std::string(text));
  return std::move(*scenario);
}

[[nodiscard]] inline std::unique_ptr<Simulation> assemble(const Scenario& scenario, FoldMode fold = FoldMode::kFold) {
  auto simulation = Simulation::assemble(scenario, fold);
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  return std::move(*simulation);
}

struct Played {
  RunOutcome outcome = RunOutcome::kFinished;
  RunRecord record;
  TaskGraph graph;
  Folding folding;
  std::vector<TimePoint> finished_at;  // by rank
  std::vector<LinkUsage> usage;        // by link of the whole fabric
  std::uint64_t fingerprint = 0;
  std::uint64_t events = 0;

  [[nodiscard]] Duration time() const { return record.iteration_end.back().since_start(); }
  [[nodiscard]] std::size_t dimension(std::string_view name) const {
    for (std::size_t d = 0; d < graph.dimensions.size(); ++d) {
      if (graph.dimensions[d].name == name) return d;
    }
    throw std::runtime_error("no dimension " + std::string(name));
  }
  // Bytes that the rank handed to the network in the dimension, all iterations.
  [[nodiscard]] Bytes sent(std::size_t rank, std::string_view name) const {
    return record.sent[folding.ranks.class_of[rank].index()][dimension(name)];
  }
  // How long the rank had communication of the dimension in flight.
  [[nodiscard]] Duration in_flight(std::size_t rank, std::string_view name) const {
    const ActivityMask bit = communicating(DimensionId(dimension(name)));
    const std::vector<Duration>& times = record.time_in[folding.ranks.class_of[rank].index()];
    Duration sum;
    for (ActivityMask mask = 0; mask < times.size(); ++mask) {
      if ((mask & bit) != 0) sum += times[mask];
    }
    return sum;
  }
};

// Segments are played task by task, or those that can be, at once.
enum class SegmentPlay { kByTask, kAtOnce };

[[nodiscard]] inline Played play(const Scenario& scenario, FoldMode fold = FoldMode::kFold,
                                 SegmentPlay segments = SegmentPlay::kByTask) {
  const auto simulation = assemble(scenario, fold);
  std::optional<RehearsedCalls> rehearsed;
  if (segments == SegmentPlay::kAtOnce) rehearsed = rehearse(scenario, *simulation);
  Engine engine;
  const auto network = scenario.simulate.network->make({.engine = engine, .router = simulation->router()});
  RunResult run = execute({.engine = engine,
                           .graph = simulation->plan().graph,
                           .classes = simulation->folding().ranks,
                           .network = *network,
                           .chooser = simulation->chooser(),
                           .compute = *scenario.job.compute,
                           .collective_time = simulation->collective_time(),
                           .step_costs = scenario.collectives.step_costs,
                           .call_overhead = simulation->call_overhead(),
                           .channels = simulation->channels(),
                           .footprint = simulation->footprint(),
                           .rehearsed = rehearsed ? &*rehearsed : nullptr},
                          {.warmup_iterations = scenario.simulate.warmup,
                           .pass_segments_at_once = segments == SegmentPlay::kAtOnce,
                           .host_awaits_receives = !scenario.job.parallel.overlap_p2p});
  Played played{.outcome = run.outcome,
                .record = std::move(run.record),
                .graph = simulation->plan().graph,
                .folding = simulation->folding(),
                .finished_at = {},
                .usage = {},
                .fingerprint = engine.fingerprint(),
                .events = engine.events_run()};
  if (run.outcome == RunOutcome::kDisturbed) return play(scenario, fold, SegmentPlay::kByTask);
  if (run.outcome != RunOutcome::kFinished) throw std::runtime_error("did not finish: " + render(run.stall));
  for (const ClassId rank_class : played.folding.ranks.class_of) {
    played.finished_at.push_back(played.record.finished_at[rank_class.index()]);
  }
  for (const std::uint32_t link_class : played.folding.links.class_of) played.usage.push_back(run.usage[link_class]);
  return played;
}

// h 256, 8 heads, 8 layers, s 128: a training step of it takes well under a second to play, whatever the layout.
inline constexpr std::string_view kTinyModel =
    "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 512,"
    " vocab_size: 1000, seq_length: 128}\n";

// A part of a JSON text, from `"name": {` to the brace that closes it.
[[nodiscard]] inline std::string json_part(const std::string& json, std::string_view name) {
  const std::size_t begin = json.find("\"" + std::string(name) + "\": ");
  if (begin == std::string::npos) return {};
  int depth = 0;
  for (std::size_t i = begin; i < json.size(); ++i) {
    if (json[i] == '{' || json[i] == '[') ++depth;
    if ((json[i] == '}' || json[i] == ']') && --depth == 0) return json.substr(begin, i + 1 - begin);
  }
  return {};
}

}  // namespace ringwright::configs
