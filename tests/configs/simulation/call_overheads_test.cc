// Steps that start with the overhead of kernels take, alone, as long as the kernels.
#include "configs/simulation/call_overheads.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "configs/simulation/planner.h"
#include "tests/configs/played.h"

namespace ringwright::configs::call_overheads_test {
namespace {

using namespace ringwright::literals;

constexpr const char* kCluster =
    "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, leaf: {ports: 8}, "
    "spine: {ports: 8}}}\n";

Scenario machine(const std::string& collectives) {
  auto scenario = load_machine_text("machine.yaml",
                                    "version: 1\n" + std::string(kCluster) + "collectives: {" + collectives + "}\n");
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

Duration time_of(const Scenario& scenario, CollectiveOperation operation, Bytes bytes) {
  CollectiveBench bench(scenario);
  const auto result = bench.run({.operation = operation, .bytes = bytes});
  if (!result) throw std::runtime_error(render(result.error()));
  return result->time;
}

TEST(CallOverheads, MakeStepsTakeWhatKernelsTake) {
  const Scenario kernels = machine("model: chunks");
  const Scenario plain = machine("model: steps, overhead: none, tuner: nccl");
  const Scenario steps = machine("model: steps, overhead: kernels");
  for (const CollectiveOperation operation : {CollectiveOperation::kAllReduce, CollectiveOperation::kAllGather,
                                              CollectiveOperation::kReduceScatter, CollectiveOperation::kAllToAll}) {
    for (const Bytes bytes : {8_KiB, 4_MiB, 256_MiB}) {
      const Duration expected = std::max(time_of(kernels, operation, bytes), time_of(plain, operation, bytes));
      EXPECT_EQ(time_of(steps, operation, bytes), expected) << to_string(operation) << " of " << to_string(bytes);
    }
  }
}

TEST(CallOverheads, SumsOfOneNumberTakeWhatKernelsTake) {
  const Duration kernels = time_of(machine("model: chunks"), CollectiveOperation::kAllReduce, 4_B);
  EXPECT_EQ(time_of(machine("model: steps, overhead: kernels"), CollectiveOperation::kAllReduce, 4_B), kernels);
}

// The norm of sharded gradients is one number, which has another role for every member of a tree.
TEST(CallOverheads, SumsOfOneNumberKeepEqualRanksEqual) {
  const Scenario scenario = load(std::string(kTinyModel) +
                                 "training: {global_batch: 64}\nparallel: {dp: auto, zero: {stage: 1}}\n"
                                 "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n");
  EXPECT_EQ(assemble(scenario)->folding().ranks.count(), 1U);
  const Played unfolded = play(scenario, FoldMode::kNoFold);
  EXPECT_EQ(play(scenario).time(), unfolded.time());
  EXPECT_GT(unfolded.sent(0, "dp"), Bytes());
}

// Rings of thousands of ranks are simulated as kernels on fewer hosts: on some of each leaf's, since NCCL's rings leave
// every other host by other NICs.
TEST(CallOverheads, OfThousandsOfRanksAreThoseOfTheKernels) {
  const auto machine_of = [](const std::string& collectives) {
    auto scenario = load_machine_text("machine.yaml",
                                      "version: 1\ncluster: {nodes: 128, node: {preset: dgx-h100}, fabric: {type: "
                                      "rail_optimized, scalable_unit: 32, leaf: {ports: 64}, spine: {ports: 64}}}\n"
                                      "comm: {env: {NCCL_ALGO: ring}}\ncollectives: {" +
                                          collectives + "}\n");
    if (!scenario) throw std::runtime_error(render(scenario.error()));
    return std::move(*scenario);
  };
  for (const CollectiveOperation operation : {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter}) {
    const Duration expected = time_of(machine_of("model: chunks"), operation, 1_GiB);
    const Duration steps = time_of(machine_of("model: steps, overhead: kernels"), operation, 1_GiB);
    EXPECT_NEAR(to_seconds(steps), to_seconds(expected), 0.005 * to_seconds(expected)) << to_string(operation);
    EXPECT_LT(time_of(machine_of("model: steps, overhead: none"), operation, 1_GiB), steps);
  }
}

// Two GPUs that send to each other, of one host and of two: what leaves later arrives when kernels have copied it.
TEST(CallOverheads, MakeMessagesTakeWhatKernelsTake) {
  for (const char* nodes : {"cluster.nodes=1", "cluster.nodes=2"}) {
    const auto time = [&](const std::string& collectives, Bytes bytes) {
      auto scenario = load_machine_text(
          "machine.yaml",
          "version: 1\ncluster: {nodes: 2, node: {preset: dgx-h100}}\ncollectives: {" + collectives + "}\n",
          {.overrides = {nodes}});
      if (!scenario) throw std::runtime_error(render(scenario.error()));
      CollectiveBench bench(*scenario);
      const int per_host = std::string(nodes).back() == '1' ? 2 : 1;
      const auto result =
          bench.run({.operation = CollectiveOperation::kSendReceive, .bytes = bytes, .gpus_per_host = per_host});
      if (!result) throw std::runtime_error(render(result.error()));
      return result->time;
    };
    for (const Bytes bytes : {8_KiB, 4_MiB, 256_MiB}) {
      const Duration alone = time("model: steps, overhead: none", bytes);
      const Duration with_overhead = time("model: steps, overhead: kernels", bytes);
      EXPECT_EQ(with_overhead, time("model: chunks", bytes)) << nodes << " " << to_string(bytes);
      EXPECT_GT(with_overhead, alone + 1_us) << nodes << " " << to_string(bytes);
    }
  }
}

std::string job(const std::string& collectives) {
  return std::string(kTinyModel) +
         "training: {global_batch: 32}\nparallel: {tp: 4, pp: 2, dp: auto, sequence_parallel: true}\n" + kCluster +
         "simulate: {network: flow}\ncollectives: {" + collectives + "}\n";
}

// Every call of the report took its steps' time and the overhead of its size.
TEST(CallOverheads, AreInTrainingSteps) {
  const Scenario scenario = load(job("overhead: kernels"));
  const auto simulation = assemble(scenario);
  const Played with = play(scenario);
  const Played without = play(load(job("overhead: none")));
  EXPECT_GT(with.time(), without.time());
  const DimensionId tp(with.dimension("tp"));
  const GroupLayout& layout = with.graph.layouts[with.graph.dimensions[tp.index()].layout_of_group.front()];
  const CollectiveSpec& spec = with.graph.collectives.front();
  const Duration overhead =
      simulation->call_overhead()->of({.kind = spec.kind, .bytes = spec.bytes, .layout = &layout, .dimension = tp});
  EXPECT_GT(overhead, 1_us);
  EXPECT_LT(overhead, 50_us);
}

TEST(CallOverheads, FoldExactly) {
  for (const char* collectives : {"overhead: kernels", "overhead: kernels, tuner: nccl"}) {
    const Scenario scenario = load(job(collectives));
    const Played folded = play(scenario, FoldMode::kFold);
    const Played all = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.finished_at, all.finished_at);
    EXPECT_LT(folded.folding.ranks.count(), all.folding.ranks.count());
  }
}

// Data-parallel groups of four hosts, one for each rail, whose routes are hashed: the overhead of a rail's group must
// not depend on whether another rail's was computed before.
TEST(CallOverheads, DoNotDependOnTheOrderInWhichTheyAreAskedFor) {
  const Scenario scenario =
      load(std::string(kTinyModel) +
           "training: {global_batch: 32}\nparallel: {tp: 8, dp: auto, zero: {stage: 1}}\n"
           "cluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, "
           "leaf: {ports: 8}, spine: {ports: 64}, routing: {policy: ecmp, hash_seed: 3}}}\n");
  const auto simulation = assemble(scenario);
  const TaskGraph& graph = simulation->plan().graph;
  const auto dp = std::ranges::find(graph.dimensions, "dp", &Dimension::name);
  const DimensionId dimension(static_cast<std::size_t>(dp - graph.dimensions.begin()));
  // By rail, of its own or of the shared store.
  const auto overhead = [&](std::size_t rail, const Simulation& asked) {
    const TaskGraph& own = asked.plan().graph;
    const std::uint32_t layout = own.dimensions[dimension.index()].layout_of_group[rail];
    return asked.call_overhead()->of(
        {.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &own.layouts[layout], .dimension = dimension});
  };
  ASSERT_EQ(dp->groups.size(), 8U);
  for (std::size_t rail = 0; rail < 8; ++rail) {
    EXPECT_EQ(overhead(rail, *simulation), overhead(rail, *assemble(scenario, FoldMode::kNoFold))) << rail;
  }
}

// Nothing where the step is refused or never ends.
std::optional<Prediction> predicted(const Scenario& scenario, OverheadAccuracy accuracy) {
  KnownOverheads known(accuracy);
  const auto prediction = Planner(scenario, &known).predict(scenario);
  return prediction ? *prediction : std::nullopt;
}

// The exact prediction, from which the interpolated one differs by less than `share`.
std::optional<Prediction> expect_nearly_the_same(const Scenario& scenario, double share) {
  auto expected = predicted(scenario, OverheadAccuracy::kExact);
  const auto estimate = predicted(scenario, OverheadAccuracy::kInterpolated);
  EXPECT_TRUE(expected && estimate);
  if (!expected || !estimate) return std::nullopt;
  const double step = to_seconds(expected->step_time.mean);
  EXPECT_NEAR(to_seconds(estimate->step_time.mean), step, share * step);
  return expected;
}

// Steps that are mostly the all-reduce of 32 ranks, of sizes between those that are simulated: 32 sequences of 128
// tokens are little computing, and gradients of 300 to 700 MB are much.
TEST(CallOverheads, InterpolatedOnesGiveNearlyTheSameStep) {
  for (const int hidden : {3072, 3584, 4096, 4608}) {
    const Scenario scenario = load(
        fmt::format("model: {{num_layers: 2, hidden_size: {}, num_attention_heads: 32, ffn_hidden_size: {}, "
                    "vocab_size: 32000, seq_length: 128}}\ntraining: {{global_batch: 32}}\nparallel: {{dp: auto}}\n{}"
                    "simulate: {{network: alpha_beta}}\ncollectives: {{model: closed_form, overhead: kernels}}\n",
                    hidden, 4 * hidden, kCluster));
    SCOPED_TRACE(hidden);
    const auto expected = expect_nearly_the_same(scenario, 0.01);
    ASSERT_TRUE(expected);
    const double step = to_seconds(expected->step_time.mean);
    EXPECT_GT(to_seconds(expected->everywhere.dimensions.front().exposed), 0.2 * step);
  }
}

// Groups of two GPUs of a host, 0 and 4, 1 and 5 and so on: the first of them stands for all. Gradients of 200 MB.
TEST(CallOverheads, InterpolatedOnesOfSeveralGpusOfAHostGiveNearlyTheSameStep) {
  const Scenario scenario = load(
      "model: {num_layers: 2, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: 16384, vocab_size: 32000, "
      "seq_length: 128}\ntraining: {global_batch: 64}\nparallel: {tp: 4, dp: auto}\n"
      "cluster: {nodes: 16, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, "
      "leaf: {ports: 8}, spine: {ports: 64}}}\nsimulate: {network: alpha_beta}\n"
      "collectives: {model: closed_form, overhead: kernels}\n");
  expect_nearly_the_same(scenario, 0.003);
}

// Groups over 64 hosts, from rings over 8, 16 and 32 of them: gradients of 800 MB, which are most of the step.
TEST(CallOverheads, InterpolatedOnesOfManyHostsGiveNearlyTheSameStep) {
  const Scenario scenario = load(
      "model: {num_layers: 2, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: 16384, vocab_size: 32000, "
      "seq_length: 128}\ntraining: {global_batch: 64}\nparallel: {tp: 8, dp: auto, zero: {stage: 1}}\n"
      "cluster: {nodes: 64, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, "
      "leaf: {ports: 8}, spine: {ports: 64}}}\nsimulate: {network: alpha_beta}\n"
      "collectives: {model: closed_form, overhead: kernels}\n");
  const auto expected = expect_nearly_the_same(scenario, 0.003);
  ASSERT_TRUE(expected);
  const double step = to_seconds(expected->step_time.mean);
  const auto dp = std::ranges::find(expected->everywhere.dimensions, "dp", &DimensionTime::name);
  ASSERT_NE(dp, expected->everywhere.dimensions.end());
  EXPECT_GT(to_seconds(dp->exposed), 0.2 * step);
}

// Groups over 48 hosts on leaves of 20, so that the last leaf has 8: from rings over 6, 10 and 18 hosts.
TEST(CallOverheads, InterpolatedOnesOverUnequalLeavesGiveNearlyTheSameStep) {
  const Scenario scenario = load(
      "model: {num_layers: 2, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: 16384, vocab_size: 32000, "
      "seq_length: 128}\ntraining: {global_batch: 96}\nparallel: {tp: 4, dp: auto, zero: {stage: 1}}\n"
      "cluster: {nodes: 48, node: {preset: dgx-a100}, fabric: {type: rail_optimized, scalable_unit: 20, "
      "leaf: {ports: 40, speed: 200Gbps}, spine: {ports: 40, speed: 200Gbps}}}\nsimulate: {network: alpha_beta}\n"
      "collectives: {model: closed_form, overhead: kernels}\n");
  expect_nearly_the_same(scenario, 0.001);
}

// Few ranks and small calls cost little, and are simulated as they are.
TEST(CallOverheads, OfFewRanksAreExactInBothCases) {
  const Scenario scenario = load(job("model: closed_form, overhead: kernels"));
  const auto expected = predicted(scenario, OverheadAccuracy::kExact);
  const auto estimate = predicted(scenario, OverheadAccuracy::kInterpolated);
  ASSERT_TRUE(expected && estimate);
  EXPECT_EQ(estimate->step_time.mean, expected->step_time.mean);
}

// Among 32 ranks; a store and a simulation of its own for each.
Duration overhead_of_all_to_all(const Scenario& scenario, Bytes bytes, OverheadAccuracy accuracy) {
  workload::StepPlan plan;
  plan.graph = collective_graph(scenario.cluster, {.operation = CollectiveOperation::kAllToAll, .bytes = bytes});
  KnownOverheads known(accuracy);
  const auto simulation = Simulation::assemble(scenario, std::move(plan), scenario.cluster.topology->build(),
                                               FoldMode::kFold, {.overheads = &known});
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  const TaskGraph& graph = (*simulation)->plan().graph;
  const GroupLayout& layout = graph.layouts[graph.dimensions.front().layout_of_group.front()];
  return (*simulation)
      ->call_overhead()
      ->of({.kind = CollectiveKind::kAllToAll, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0)});
}

// Sizes between those of lines, each of which would cost more than the call itself.
TEST(CallOverheads, OfAnAllToAllAreExactWhereALineCostsMore) {
  const Scenario scenario = machine("model: steps, overhead: kernels");
  for (const Bytes bytes : {Bytes(3'520'000), Bytes(11'200'000), Bytes(25'600'000)}) {
    const Duration exact = overhead_of_all_to_all(scenario, bytes, OverheadAccuracy::kExact);
    EXPECT_GT(exact, Duration()) << to_string(bytes);
    EXPECT_EQ(overhead_of_all_to_all(scenario, bytes, OverheadAccuracy::kInterpolated), exact) << to_string(bytes);
  }
}

// Ranks with different overheads must not be one class: the fold sees overheads, of calls and of messages.
TEST(CallOverheads, AreSeenByTheFold) {
  class ByLayout final : public CallOverhead {
   public:
    [[nodiscard]] Duration of(const CollectiveCall& call) const override {
      return Duration(1000 * call.layout->gpu_of.front());
    }
    [[nodiscard]] Duration of(const MessageBetween& message) const override {
      return Duration(1000 * message.sender.value);
    }
  };
  const auto classes = [](const std::string& parallel, const CallOverhead* overhead) {
    const Scenario scenario = load(std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + parallel +
                                   "}\ncollectives: {overhead: none, tp: {algorithm: ring}, dp: {algorithm: "
                                   "ring}}\n" +
                                   kCluster);
    const auto simulation = assemble(scenario);
    const Choosers choosers(simulation->chooser(), nullptr, nullptr, overhead);
    return fold(simulation->plan().graph, choosers, *simulation->network().router).ranks.count();
  };
  const ByLayout overhead;
  for (const char* parallel : {"tp: 4, dp: auto", "tp: 8, pp: 4"}) {
    EXPECT_LT(classes(parallel, nullptr), classes(parallel, &overhead)) << parallel;
  }
}

TEST(CallOverheads, AreIgnoredWithAWordWhereKernelsArePlayed) {
  const Scenario scenario = load(job("model: chunks, overhead: kernels"));
  EXPECT_EQ(assemble(scenario)->call_overhead(), nullptr);
  ASSERT_FALSE(scenario.document.log().ignored().empty());
  EXPECT_EQ(scenario.document.log().ignored().front().path, "collectives.overhead");
}

// By the network's own wires, where the run's network model shares none. A formula with its overhead equals the
// kernels' time, as steps with theirs do.
TEST(CallOverheads, AreAddedToFormulasWhereTheyAreAskedFor) {
  EXPECT_EQ(assemble(load(job("model: closed_form")))->call_overhead(), nullptr);
  const Scenario with_overhead = load(job("model: closed_form, overhead: kernels"), {"simulate.network=alpha_beta"});
  const Scenario without =
      load(job("model: closed_form, overhead: none, tuner: nccl"), {"simulate.network=alpha_beta"});
  const auto formulas = assemble(with_overhead);
  const auto plain = assemble(without);
  EXPECT_EQ(plain->call_overhead(), nullptr);
  const TaskGraph& graph = formulas->plan().graph;
  for (const CollectiveSpec& spec : graph.collectives) {
    const DimensionId tp(0);
    const auto call_on = [&](const Simulation& simulation) {
      const TaskGraph& own = simulation.plan().graph;
      return CollectiveCall{.kind = spec.kind,
                            .bytes = spec.bytes,
                            .layout = &own.layouts[own.dimensions[tp.index()].layout_of_group.front()],
                            .dimension = tp};
    };
    const Duration overhead = formulas->call_overhead()->of(call_on(*formulas));
    EXPECT_GT(overhead, 1_us);
    EXPECT_EQ(formulas->collective_time()->time(call_on(*formulas)),
              plain->collective_time()->time(call_on(*plain)) + overhead);
  }
}

// One store for several planners: the second one simulates no call again, and predicts the same.
TEST(CallOverheads, AreFoundOutOnceForAMachine) {
  const Scenario scenario = load(job("model: closed_form, overhead: kernels"), {"simulate.network=alpha_beta"});
  KnownOverheads known;
  const auto predict = [&] { return (*Planner(scenario, &known).predict(scenario))->step_time.mean; };
  const Duration first = predict();
  const std::size_t calls = known.size();
  EXPECT_GT(calls, 0U);
  EXPECT_EQ(predict(), first);
  EXPECT_EQ(known.size(), calls);
  const Scenario plain = load(job("model: closed_form, overhead: none"), {"simulate.network=alpha_beta"});
  EXPECT_GT(first, (*Planner(plain).predict(plain))->step_time.mean);
}

TEST(CallOverheads, TakeTheConstantsOfComm) {
  const Scenario plain = load(job("overhead: kernels"));
  const Scenario slow = load(job("overhead: kernels") + "comm: {costs: {launch: 500us}}\n");
  EXPECT_GT(play(slow).time(), play(plain).time() + 400_us);
}

}  // namespace
}  // namespace ringwright::configs::call_overheads_test
