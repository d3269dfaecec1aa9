#include "workload/pipeline/weight_versions.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "workload/builtin.h"
#include "workload/memory/memory.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload::weight_versions_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int> versions(WeightVersions kind, int stages, int microbatches) {
  std::vector<int> by_stage;
  for (int stage = 0; stage < stages; ++stage) by_stage.push_back(weight_versions(kind, stages, stage, microbatches));
  return by_stage;
}

// PipeDream, section 3.3: a stage stores a version for each minibatch between its passes, p - i of them.
TEST(WeightVersions, PipeDreamStashesOneForEveryMinibatchUnderPath) {
  EXPECT_THAT(versions(WeightVersions::kStashed, 4, 1), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(versions(WeightVersions::kStashed, 1, 1), ElementsAre(1));
}

// With an update per two microbatches those in flight began with half as many; with one for p - 1 or more, with two.
TEST(WeightVersions, RarerUpdatesNeedFewer) {
  EXPECT_THAT(versions(WeightVersions::kStashed, 4, 2), ElementsAre(3, 2, 2, 1));
  EXPECT_THAT(versions(WeightVersions::kStashed, 4, 3), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(versions(WeightVersions::kStashed, 4, 64), ElementsAre(2, 2, 2, 1));
}

TEST(WeightVersions, DoubleBufferingStoresTwoEverywhere) {
  EXPECT_THAT(versions(WeightVersions::kTwo, 4, 4), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(versions(WeightVersions::kTwo, 1, 4), ElementsAre(1));
  EXPECT_THAT(versions(WeightVersions::kOne, 4, 4), ElementsAre(1, 1, 1, 1));
}

// By hand: with an update for m microbatches the n-th forward pass uses the version after n / m updates have been made;
// those in use at a time are counted over a long run.
TEST(WeightVersions, CountIsThatOfALongRun) {
  for (const int stages : {2, 4, 7}) {
    for (const int microbatches : {1, 2, 3, 5, 8}) {
      for (int stage = 0; stage < stages; ++stage) {
        const int ahead = passes_ahead(WeightVersions::kStashed, stages, stage);
        int most = 0;
        for (int done = 10 * microbatches; done < 20 * microbatches; ++done) {
          // Before backward pass `done`, microbatches done .. done + ahead are in flight; the last forward pass came
          // after done / m updates, the first one after max(0, done - ahead) / m.
          most = std::max(most, done / microbatches - (done - ahead) / microbatches + 1);
        }
        EXPECT_EQ(weight_versions(WeightVersions::kStashed, stages, stage, microbatches), most)
            << stages << " " << stage << " " << microbatches;
      }
    }
  }
}

TEST(WeightVersions, ASteadyStepHoldsWhatLiesAheadOfAStageWhateverItsMicrobatches) {
  for (const int microbatches : {1, 2, 6}) {
    const PipelineOrder order = steady_order({.stages = 4, .microbatches = microbatches});
    std::vector<int> held;
    for (const std::vector<Slot>& slots : order) held.push_back(most_held(slots));
    EXPECT_THAT(held, ElementsAre(4, 3, 2, 1)) << microbatches;
  }
}

JobText job(const std::string& parallel, const std::string& training = "global_batch: 8", std::int64_t ranks = 4,
            const std::string& model = small_model(8)) {
  return JobText(model + "training: {" + training + "}\nparallel: {" + parallel + "}\n", ranks);
}

TEST(WeightVersions, AStepStartsInSteadyStateWithoutAGlobalNorm) {
  const JobText pipedream = job("pp: 2, schedule: pipedream", "global_batch: 2", 2);
  ASSERT_THAT(pipedream.problems(), IsEmpty());
  const StepPlan plan = pipedream.plan();
  EXPECT_THAT(task_names(plan.graph, plan.graph.programs[0]),
              ElementsAre("clear gradients", "F1", "pp send activation", "pp receive gradient", "B0", "F2",
                          "pp send activation", "pp receive gradient", "B1", "gradient norm", "optimizer"));
  EXPECT_THAT(task_names(plan.graph, plan.graph.programs[1]),
              ElementsAre("clear gradients", "pp receive activation", "F0", "B0", "pp send gradient",
                          "pp receive activation", "F1", "B1", "pp send gradient", "gradient norm", "optimizer"));
  EXPECT_THAT(plan.weight_versions, ElementsAre(2, 1));
  EXPECT_THAT(plan.held_at_peak, ElementsAre(2, 1));
  for (const Program& program : plan.graph.programs) {
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::kReceive) continue;
      const MessageSpec& message = plan.graph.messages[task.detail];
      EXPECT_EQ(message.lag, message.channel == 0 ? 1 : 0);  // activations were sent in the step before
    }
  }
}

TEST(WeightVersions, OlderWeightsAreInMemory) {
  const auto older = [](const std::string& schedule, const std::string& batch) {
    const JobText asked = job("pp: 4, schedule: " + schedule, "global_batch: " + batch);
    EXPECT_THAT(asked.problems(), IsEmpty());
    std::vector<std::int64_t> ratio;
    for (const StageMemory& stage : memory_ledger(asked.inputs(), {})) {
      ratio.push_back(stage.of("older weights").count() / stage.of("weights").count());
    }
    return ratio;
  };
  EXPECT_THAT(older("pipedream", "1"), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(older("pipedream-2bw", "8"), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(older("1f1b", "8"), ElementsAre(0, 0, 0, 0));
}

TEST(WeightVersions, WhatNeedsAnEmptyPipelineIsRefused) {
  EXPECT_THAT(job("pp: 2, schedule: pipedream, zero: {stage: 1}").problems(),
              ElementsAre(HasSubstr("E137: 'pipedream' never empties the pipeline, which state that is sharded over "
                                    "data-parallel ranks (zero.stage 1, fsdp) does not allow | set zero.stage: 0")));
  EXPECT_THAT(job("pp: 2, schedule: pipedream, cpu_offloading_num_layers: 1").problems(),
              ElementsAre(HasSubstr("offloading to the host does not allow")));
  const std::string tied =
      "model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, vocab_size: 1000, seq_length: 32,"
      " untie_embeddings_and_output_weights: false}\n";
  EXPECT_THAT(job("pp: 2, schedule: pipedream", "global_batch: 8", 4, tied).problems(),
              ElementsAre(HasSubstr("an embedding that the first and last stage share does not allow | set "
                                    "model.untie_embeddings_and_output_weights: true")));
  EXPECT_THAT(
      job("pp: 4, schedule: pipedream-2bw", "global_batch: 2").problems(),
      ElementsAre(HasSubstr("E137: 'pipedream-2bw' needs 4 microbatches or more, 1 for each of pp = 4 stages")));
}

// --- Varuna ---

PipelineOrder varuna(int stages, int microbatches) {
  return find_schedule("varuna").order({.stages = stages, .microbatches = microbatches});
}

std::string words(const std::vector<Slot>& slots) {
  std::string text;
  for (const Slot& slot : slots) text += (text.empty() ? "" : " ") + name_of(slot, 1);
  return text;
}

// In units of one forward pass a recomputation takes 1, a backward pass 2.
TEST(Varuna, ForwardPassesFillTheTimeUntilAGradientComes) {
  const PipelineOrder order = varuna(2, 4);
  EXPECT_EQ(words(order[1]), "F0 B0 F1 B1 F2 B2 F3 B3");
  // F0 F1 F2 end at 3, when the recomputation for B0 begins, whose gradient arrives at 4. At 6 that for B1 begins (7),
  // at 9 that for B2 (10): each time a forward pass would end too late.
  EXPECT_EQ(words(order[0]), "F0 F1 F2 B0 B1 B2 F3 B3");
}

TEST(Varuna, StepsOfTheLastStageAlternate) {
  const PipelineOrder order = varuna(4, 12);
  for (std::size_t i = 0; i < order.back().size(); ++i) {
    EXPECT_EQ(order.back()[i].pass, i % 2 == 0 ? Pass::kForward : Pass::kBackward) << i;
  }
}

TEST(Varuna, RecomputationGoesBeforeTheWaitForTheGradient) {
  const JobText asked = job("pp: 2, schedule: varuna", "global_batch: 1, recompute: full, recompute_num_layers: 4", 2);
  ASSERT_THAT(asked.problems(), IsEmpty());
  const StepPlan plan = asked.plan();
  EXPECT_THAT(task_names(plan.graph, plan.graph.programs[0]),
              ElementsAre("clear gradients", "F0", "pp send activation", "R0", "pp receive gradient", "B0",
                          "gradient norm", "mp gradient norm", "optimizer"));
  // The last stage still has its activations.
  EXPECT_THAT(task_names(plan.graph, plan.graph.programs[1]),
              ElementsAre("clear gradients", "pp receive activation", "F0", "B0", "pp send gradient", "gradient norm",
                          "mp gradient norm", "optimizer"));
}

TEST(Varuna, OnlyTheLastStageIsSparedTheRecomputation) {
  const std::string training = "global_batch: 8, recompute: full";
  const StepPlan plain = job("pp: 2, schedule: 1f1b", "global_batch: 8", 2).plan();
  const StepPlan full = job("pp: 2, schedule: 1f1b", training, 2).plan();
  const StepPlan varuna = job("pp: 2, schedule: varuna", training, 2).plan();
  EXPECT_DOUBLE_EQ(varuna.stage_flops[0].count(), full.stage_flops[0].count());
  EXPECT_DOUBLE_EQ(varuna.stage_flops[1].count(), plain.stage_flops[1].count());
}

TEST(Varuna, GatheredParametersAreRefused) {
  EXPECT_THAT(job("pp: 2, schedule: varuna, fsdp: {}", "global_batch: 8, recompute: full").problems(),
              ElementsAre(HasSubstr("E137: 'varuna' recomputes layers before their backward pass")));
}

}  // namespace
}  // namespace ringwright::workload::weight_versions_test
