// Runs a scenario written in a test, and collects the results by rank and by link, folded or not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/run/step/executor.h"

namespace ringwright::configs {

// Throws, so that a test with a broken scenario ends there with its mistakes.
[[nodiscard]] Scenario load(std::string_view text, std::vector<std::string> overrides = {},
                            KnownFiles* known = nullptr);

[[nodiscard]] std::unique_ptr<Simulation> assemble(const Scenario& scenario, FoldMode fold = FoldMode::kFold);

struct Played {
  RunOutcome outcome = RunOutcome::kFinished;
  RunRecord record;
  TaskGraph graph;
  Folding folding;
  std::vector<TimePoint> finished_at;  // by rank
  std::vector<LinkUsage> usage;        // by link of the whole fabric
  std::uint64_t fingerprint = 0;
  std::uint64_t events = 0;

  // Special members are in the source file: otherwise each test file would compile those of all members anew.
  Played();
  ~Played();
  Played(const Played& other);
  Played(Played&& other) noexcept;
  Played& operator=(const Played& other);
  Played& operator=(Played&& other) noexcept;

  [[nodiscard]] Duration time() const { return record.iteration_end.back().since_start(); }
  [[nodiscard]] std::size_t dimension(std::string_view name) const;
  // Bytes that the rank sent to the network in the dimension, all iterations.
  [[nodiscard]] Bytes sent(std::size_t rank, std::string_view name) const;
  // How long the rank had communication of the dimension in flight.
  [[nodiscard]] Duration in_flight(std::size_t rank, std::string_view name) const;
};

// Whether segments are simulated task by task or, where possible, at once.
enum class SegmentPlay { kByTask, kAtOnce };

// Runs the simulation on a router of the same links as its own.
[[nodiscard]] RunResult run_on(const Scenario& scenario, const Simulation& simulation, const Router& router,
                               Engine& engine, SegmentPlay segments = SegmentPlay::kByTask,
                               const RehearsedCalls* rehearsed = nullptr);

[[nodiscard]] Played play(const Scenario& scenario, FoldMode fold = FoldMode::kFold,
                          SegmentPlay segments = SegmentPlay::kByTask);

// As a run simulates it, with its shortcuts or without; links by class.
[[nodiscard]] Played play_as_run(const Scenario& scenario, FoldMode fold, network_models::FastForward fast_forward);

// The report of a run as JSON, without what differs between runs or only repeats the configuration; "none" without one.
[[nodiscard]] std::string result_of(std::string_view text, std::vector<std::string> overrides = {});

// The mistakes of a scenario; empty: it has none.
[[nodiscard]] std::string refusal_of(const std::string& text, std::vector<std::string> overrides = {});

// h 256, 8 heads, 8 layers, s 128: a training step of it simulates in well under a second, whatever the layout.
inline constexpr std::string_view kTinyModel =
    "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 512,"
    " vocab_size: 1000, seq_length: 128}\n";

// A section of a JSON text, from `"name": {` to the brace that closes it.
[[nodiscard]] std::string json_part(const std::string& json, std::string_view name);

}  // namespace ringwright::configs
