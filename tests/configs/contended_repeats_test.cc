// Cycles and training steps that are left out under contention change no result of a run: every time, loss and lag is
// that of the whole run, to the picosecond.
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/plan_run.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/step_plan.h"
#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::contended_repeats_test {
namespace {

struct Run {
  RunResult result;
  std::uint32_t cycles = 0;  // left out of each step
  std::uint64_t events = 0;
};

Run run(const Scenario& scenario, workload::Passes passes, network_models::FastForward fast_forward) {
  auto simulation = Simulation::assemble(scenario, plan_step(scenario, passes), scenario.cluster.topology->build(),
                                         FoldMode::kFold);
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  PlayedPlan played = play_plan(scenario, **simulation, {.fast_forward = fast_forward});
  const std::uint32_t left_out = (*simulation)->plan().graph.cycles_left_out;
  const std::uint32_t cycles = left_out - played.run.cycles_taken_in;
  return {.result = std::move(played.run), .cycles = cycles, .events = played.events};
}

Duration lost(const RunRecord& record) {
  Duration sum;
  for (const auto& of_class : record.interference) {
    for (const Interference& of : of_class) sum += of.computing_to_sms + of.computing_to_memory;
  }
  return sum;
}

Duration late(const RunRecord& record) {
  Duration sum;
  for (const auto& of_class : record.interference) {
    for (const Interference& of : of_class) sum += of.communication;
  }
  return sum;
}

void expect_equal_losses(const RunRecord& found, const RunRecord& expected, const std::string& text) {
  ASSERT_EQ(found.interference.size(), expected.interference.size()) << text;
  for (std::size_t c = 0; c < expected.interference.size(); ++c) {
    for (std::size_t d = 0; d < expected.interference[c].size(); ++d) {
      const Interference& a = found.interference[c][d];
      const Interference& b = expected.interference[c][d];
      EXPECT_EQ(a.computing_to_sms, b.computing_to_sms) << text;
      EXPECT_EQ(a.computing_to_memory, b.computing_to_memory) << text;
      EXPECT_EQ(a.communication, b.communication) << text;
    }
  }
}

struct Found {
  int with_cycles = 0;
  int with_steps = 0;
  int with_losses = 0;
  int with_lags = 0;
};

void expect_same(const std::string& text, Found& found) {
  const Scenario scenario = load(text);
  Run whole = run(scenario, workload::Passes::kAsSegments, network_models::FastForward::kOff);
  ASSERT_EQ(whole.result.outcome, RunOutcome::kFinished) << text;
  for (const workload::Passes passes : passes_to_try(scenario)) {
    const Run fast = run(scenario, passes, network_models::FastForward::kOn);
    if (fast.result.outcome == RunOutcome::kUnproven) continue;
    ASSERT_EQ(fast.result.outcome, RunOutcome::kFinished) << text;
    if (fast.result.skipped_iterations > 0) whole.result.record.calls = fast.result.record.calls;  // of simulated steps
    expect_equal(fast.result.record, whole.result.record, text);
    expect_equal(fast.result.usage, whole.result.usage, text);
    expect_equal_losses(fast.result.record, whole.result.record, text);
    const bool shortened = fast.cycles > 0 || fast.result.skipped_iterations > 0;
    if (!shortened) continue;
    EXPECT_LT(fast.events, whole.events) << text;
    found.with_cycles += fast.cycles > 0 ? 1 : 0;
    found.with_steps += fast.result.skipped_iterations > 0 ? 1 : 0;
    found.with_losses += lost(fast.result.record) > Duration(0) ? 1 : 0;
    found.with_lags += late(fast.result.record) > Duration(0) ? 1 : 0;
  }
}

std::string random_text(RandomStream& draw) {
  const auto of = [&draw](const auto& values) { return values[draw.next_below(values.size())]; };
  static constexpr std::array kParallel = {
      "tp: 2, pp: 4, schedule: 1f1b, overlap_p2p_comm: true",
      "tp: 4, pp: 2, schedule: 1f1b, overlap_p2p_comm: false, zero: {stage: 1, overlap_grad_reduce: true}",
      "tp: 2, pp: 2, sequence_parallel: true, tp_comm_overlap: true",
      "tp: 2, pp: 4, virtual_stages: 2, schedule: interleaved-1f1b, overlap_p2p_comm: true",
      "tp: 1, pp: 4, cp: 2, schedule: 1f1b",
      "tp: 1, pp: 4, schedule: zb-h1",
      "tp: 8, pp: 1",
      "tp: 1, zero: {stage: 3}",
      "tp: 1, zero: {stage: 2, overlap_grad_reduce: true}",
      "tp: 2, pp: 2, ep: 4, sequence_parallel: true"};
  const std::string parallel = of(kParallel);
  const std::string experts =
      parallel.find("ep:") != std::string::npos ? ", num_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 512" : "";
  // Wide layers: kernels and messages that take each other's memory bandwidth.
  const std::string model = fmt::format(
      "model: {{num_layers: 8, hidden_size: {}, num_attention_heads: 16, num_query_groups: 16, ffn_hidden_size: {}, "
      "vocab_size: 4096, seq_length: {}{}}}\n",
      1024, 4096, of(std::array{512, 1024}), experts);
  const std::string compute = of(std::array{"", "compute: {model: roofline}\n", "compute: {cuda_graphs: true}\n"});
  return model + fmt::format("training: {{global_batch: {}, micro_batch: 1}}\nparallel: {{{}}}\n{}"
                             "cluster: {{nodes: 2, node: {{preset: dgx-h100}}}}\n"
                             "simulate: {{network: {}, {}}}\ncollectives: {{model: {}}}\n"
                             "interference: {{model: share}}\n",
                             16 * (3 + draw.next_below(5)), parallel, compute, of(std::array{"flow", "alpha_beta"}),
                             of(std::array{"steps: 1", "steps: 6, warmup: 1"}),
                             of(std::array{"closed_form", "steps"}));
}

TEST(ContendedRepeats, ChangeNothingWhateverTheLayout) {
  RandomStream draw(26, "contended repeats");
  Found found;
  for (int trial = 0; trial < 40; ++trial) expect_same(random_text(draw), found);
  EXPECT_GT(found.with_cycles, 5);
  EXPECT_GT(found.with_steps, 5);
  EXPECT_GT(found.with_losses, 5);
  EXPECT_GT(found.with_lags, 0);
  RecordProperty("runs with cycles left out", found.with_cycles);
  RecordProperty("runs with steps left out", found.with_steps);
  RecordProperty("of both, with computing slowed", found.with_losses);
  RecordProperty("of both, with data late", found.with_lags);
}

TEST(ContendedRepeats, ReportsAreTheSame) {
  RandomStream draw(27, "contended reports");
  for (int trial = 0; trial < 10; ++trial) {
    const std::string text = random_text(draw);
    const std::string fast = result_of(text);
    const std::string whole = result_of(text, {"simulate.fast_forward=false"});
    for (const char* part : {"metrics", "breakdown", "links", "collectives"}) {
      EXPECT_FALSE(json_part(whole, part).empty()) << part;
      EXPECT_EQ(json_part(fast, part), json_part(whole, part)) << text;
    }
  }
}

}  // namespace
}  // namespace ringwright::configs::contended_repeats_test
