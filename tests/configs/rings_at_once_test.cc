// Rings whose members are of different classes, moved by the network, are exact: every rank, every mixture of
// activities and every link is as if each member had sent each of its messages by itself.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/engine/engine.h"
#include "core/run/step/executor.h"
#include "tests/configs/played.h"

namespace ringwright::configs::rings_at_once_test {
namespace {

struct Job {
  std::string training;
  std::string parallel;
  std::string routing = "ecmp";
  std::string rest;  // further sections
  std::string_view model = kTinyModel;
};

std::string text_of(const Job& job) {
  return std::string(job.model) + "training: {global_batch: 64" + job.training + "}\nparallel: {" + job.parallel +
         "}\ncluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
         "leaf: {ports: 4}, spine: {ports: 16}, routing: {policy: " +
         job.routing + "}}}\nsimulate: {network: flow, seed: 3}\n" + job.rest;
}

struct Run {
  RunResult run;
  std::vector<NetworkModel::Counter> counters;
};

// Passes task by task: those whose links are their own would send no messages otherwise.
Run play_with(const std::string& text, network_models::FastForward fast_forward) {
  const Scenario scenario = load(text);
  const auto simulation = assemble(scenario);
  Engine engine;
  const auto network = scenario.simulate.network->make(
      {.engine = engine, .router = simulation->router(), .options = {.fast_forward = fast_forward}});
  RunResult run = execute({.engine = engine,
                           .graph = simulation->plan().graph,
                           .classes = simulation->folding().ranks,
                           .network = *network,
                           .chooser = simulation->steps(),
                           .compute = *scenario.job.compute,
                           .step_costs = scenario.collectives.step_costs,
                           .progress = simulation->progress(),
                           .call_overhead = simulation->call_overhead()},
                          {.host_awaits_receives = !scenario.job.parallel.overlap_p2p});
  return {.run = std::move(run), .counters = network->counters()};
}

std::uint64_t counter(const Run& played, std::string_view name) {
  for (const NetworkModel::Counter& candidate : played.counters) {
    if (candidate.name == name) return candidate.value;
  }
  return 0;
}

// The part of the messages that was not simulated one by one.
double expect_exact(const Job& job) {
  const std::string text = text_of(job);
  const Run each = play_with(text, network_models::FastForward::kOff);
  const Run fast = play_with(text, network_models::FastForward::kOn);
  EXPECT_EQ(fast.run.record.iteration_end, each.run.record.iteration_end) << text;
  EXPECT_EQ(fast.run.record.finished_at, each.run.record.finished_at) << text;
  EXPECT_EQ(fast.run.record.time_in, each.run.record.time_in) << text;
  EXPECT_EQ(fast.run.record.sent, each.run.record.sent) << text;
  EXPECT_EQ(fast.run.record.messages, each.run.record.messages) << text;
  EXPECT_EQ(fast.run.usage.size(), each.run.usage.size());
  for (std::size_t link = 0; link < each.run.usage.size(); ++link) {
    EXPECT_EQ(fast.run.usage[link].busy, each.run.usage[link].busy) << text;
    EXPECT_NEAR(fast.run.usage[link].bytes, each.run.usage[link].bytes, 1e-9 * each.run.usage[link].bytes) << text;
  }
  EXPECT_EQ(counter(each, "flows fast-forwarded"), 0U);
  return static_cast<double>(counter(fast, "flows fast-forwarded")) / static_cast<double>(counter(fast, "flows"));
}

// Hashed routes: all ranks of a tensor-parallel group are classes of their own.
TEST(RingsAtOnce, AreExactWithHashedRoutes) {
  EXPECT_GT(expect_exact({"", "tp: 8, pp: 4, dp: auto, sequence_parallel: true", "ecmp", ""}), 0.9);
  EXPECT_GT(expect_exact({"", "tp: 4, pp: 2, dp: auto, scatter_gather_p2p: true", "ecmp", ""}), 0.9);
}

// Rings of data parallelism share links with each other and with the messages of pipelines.
TEST(RingsAtOnce, AreExactWhereMessagesShareTheirLinks) {
  expect_exact({"", "tp: 2, pp: 4, dp: auto, zero: {stage: 2, overlap_grad_reduce: true}", "d_mod_k", ""});
  expect_exact({"", "tp: 2, pp: 4, dp: auto, zero: {stage: 2, overlap_grad_reduce: true}", "static", ""});
}

// One ring for each rail: a member sends to its neighbour in the host and to the next host in every step.
TEST(RingsAtOnce, AreExactWithARingOnEachRail) {
  const std::string on_rails = "collectives: {dp: {algorithm: rail_rings}}\n";
  EXPECT_GT(expect_exact({"", "dp: auto, zero: {stage: 3}", "static", on_rails}), 0.9);
  expect_exact({"", "dp: auto, zero: {stage: 3}", "ecmp", on_rails});  // hashed onto links of each other
  EXPECT_GT(expect_exact({"", "tp: 2, pp: 4, dp: auto", "d_mod_k", on_rails}), 0.5);
  expect_exact({"", "dp: auto, zero: {stage: 3}", "static", on_rails + "faults: [{node: 3, compute_scale: 0.9}]\n"});
}

// As many rings as NCCL's search finds, several of which take the same links.
TEST(RingsAtOnce, AreExactWithTheRingsOfTheLibrary) {
  const std::string plan = "collectives: {tuner: nccl}\n";
  expect_exact({"", "dp: auto, zero: {stage: 3}", "static", plan});
  expect_exact({"", "tp: 2, pp: 4, dp: auto, zero: {stage: 1}", "ecmp", plan});
}

// All-to-alls of tokens within hosts and among those of a rail, which messages of pipelines disturb.
TEST(RingsAtOnce, AreExactAmongExperts) {
  constexpr std::string_view kExperts =
      "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128, "
      "num_experts: 16, moe_router_topk: 4, moe_ffn_hidden_size: 128}\n";
  const std::string slow = "faults: [{node: 3, compute_scale: 0.9}]\n";
  for (const char* routing : {"ecmp", "static"}) {
    for (const char* layout : {"pp: 2, ep: 16, etp: 1, moe_token_dispatcher_type: flex", "pp: 2, ep: 8, etp: 1",
                               "tp: 2, sequence_parallel: true, ep: 16, etp: 1"}) {
      EXPECT_GT(expect_exact({"", std::string(layout) + ", dp: auto", routing, slow, kExperts}), 0.3) << layout;
    }
  }
}

TEST(RingsAtOnce, AreExactWithASlowHost) {
  expect_exact({"", "tp: 8, pp: 4, dp: auto", "ecmp", "faults: [{node: 3, compute_scale: 0.9}]\n"});
}

}  // namespace
}  // namespace ringwright::configs::rings_at_once_test
