#include "workload/step/stage_builder.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"

namespace ringwright::workload::stage_builder_test {
namespace {

using testing::ElementsAre;

StepPlan plan_of(const std::string& parallel, std::int64_t ranks, int layers = 2, const std::string& batch = "4") {
  const JobText job(small_model(layers) + "training: {global_batch: " + batch + "}\nparallel: {" + parallel + "}\n",
                    ranks);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return job.plan();
}

std::vector<std::string> names_of(const StepPlan& plan, std::size_t stage) {
  return task_names(plan.graph, plan.graph.programs.at(stage));
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

TEST(StageBuilder, OneGpuComputesForwardBackwardAndUpdate) {
  EXPECT_THAT(names_of(plan_of("tp: 1", 1, 2, "2"), 0),
              ElementsAre("clear gradients", "F0", "B0", "F1", "B1", "gradient norm", "optimizer"));
}

TEST(StageBuilder, StagesPassActivationsAndGradients) {
  const StepPlan plan = plan_of("pp: 2", 2, 2, "2");
  EXPECT_THAT(names_of(plan, 0), ElementsAre("clear gradients", "F0", "pp send activation", "F1", "pp send activation",
                                             "pp receive gradient", "B0", "pp receive gradient", "B1", "gradient norm",
                                             "mp gradient norm", "optimizer"));
  EXPECT_THAT(names_of(plan, 1), ElementsAre("clear gradients", "pp receive activation", "F0", "B0", "pp send gradient",
                                             "pp receive activation", "F1", "B1", "pp send gradient", "gradient norm",
                                             "mp gradient norm", "optimizer"));
}

TEST(StageBuilder, ASendHoldsUpTheNextComputationUnlessOverlapped) {
  const StepPlan plain = plan_of("pp: 2", 2, 2, "2");
  EXPECT_TRUE(waits_for(plain.graph.programs[0], 3, 2));
  const StepPlan overlapped = plan_of("pp: 2, overlap_p2p_comm: true", 2, 2, "2");
  EXPECT_FALSE(waits_for(overlapped.graph.programs[0], 3, 2));
}

TEST(StageBuilder, ReceivesWaitForNothingAndComputationsForReceives) {
  const Program program = plan_of("pp: 2", 2, 2, "2").graph.programs[1];
  EXPECT_EQ(program.tasks[1].dependency_count, 0U);
  EXPECT_EQ(program.tasks[1].stream, kNoStream);
  EXPECT_TRUE(waits_for(program, 2, 1));
}

TEST(StageBuilder, ActivationsAndGradientsUseChannelsAndStreamsOfTheirOwn) {
  const StepPlan plan = plan_of("pp: 2", 2, 2, "2");
  const Program& first = plan.graph.programs[0];
  const Program& last = plan.graph.programs[1];
  EXPECT_EQ(plan.graph.messages[first.tasks[2].detail].channel, 0);
  EXPECT_EQ(plan.graph.messages[first.tasks[2].detail].peer, 1);
  EXPECT_EQ(plan.graph.messages[last.tasks[4].detail].channel, 1);
  EXPECT_EQ(plan.graph.messages[last.tasks[4].detail].peer, 0);
  EXPECT_NE(first.tasks[2].stream, last.tasks[4].stream);
}

TEST(StageBuilder, ScatteredActivationsAreGatheredOnArrival) {
  const std::vector<std::string> names = names_of(plan_of("tp: 2, pp: 2, scatter_gather_p2p: true", 4), 1);
  EXPECT_EQ(names[place_of(names, "pp receive activation") + 1], "tp all_gather");
  const std::vector<std::string> whole = names_of(plan_of("tp: 2, pp: 2", 4), 1);
  EXPECT_EQ(whole[place_of(whole, "pp receive activation") + 1], "F0");
}

TEST(StageBuilder, GradientsAreReducedBeforeTheNormAndTheUpdate) {
  const std::vector<std::string> names = names_of(plan_of("dp: 2, zero: {stage: 1}", 2, 2, "2"), 0);
  EXPECT_THAT(names, ElementsAre("clear gradients", "F0", "B0", "gradients", "dp reduce_scatter gradients",
                                 "gradient norm", "dp gradient norm", "optimizer", "dp all_gather parameters"));
}

TEST(StageBuilder, GatheredParametersComeInForwardOrderAndHoldUpOnlyWhoNeedsThem) {
  const StepPlan plan =
      plan_of("dp: 2, zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 128KiB}", 2);
  const Program& program = plan.graph.programs[0];
  const std::vector<std::string> names = names_of(plan, 0);
  const auto gathers = static_cast<std::size_t>(std::ranges::count(names, "dp all_gather parameters"));
  ASSERT_GE(gathers, 3U);
  for (std::size_t i = 0; i < gathers; ++i) EXPECT_EQ(names[i], "dp all_gather parameters");
  // The embedding's bucket is gathered first, and the first forward computation waits for it alone.
  const std::size_t first_forward = place_of(names, "F0");
  EXPECT_TRUE(waits_for(program, first_forward, 0));
  EXPECT_FALSE(waits_for(program, first_forward, gathers - 1));
  // Every gather is waited for within the first forward pass.
  for (std::size_t gather = 0; gather < gathers; ++gather) {
    bool awaited = false;
    for (std::size_t task = first_forward; names[task] == "F0"; ++task)
      awaited = awaited || waits_for(program, task, gather);
    EXPECT_TRUE(awaited) << gather;
  }
}

TEST(StageBuilder, OnlyTheLastMicrobatchReducesGradients) {
  const std::vector<std::string> names =
      names_of(plan_of("dp: 2, zero: {stage: 0, overlap_grad_reduce: true, bucket: 128KiB}", 2), 0);
  EXPECT_GT(place_of(names, "dp all_reduce gradients"), place_of(names, "B1"));  // of microbatches 0 and 1
  EXPECT_EQ(std::ranges::count(names, "B0"), 1);
  EXPECT_GT(std::ranges::count(names, "B1"), 1);  // cut where buckets are complete
}

TEST(StageBuilder, InterleavedPassesNameTheirChunk) {
  const std::vector<std::string> names =
      names_of(plan_of("pp: 2, schedule: interleaved-1f1b, virtual_stages: 2", 2, 4, "2"), 1);
  EXPECT_LT(place_of(names, "F0.0"), place_of(names, "F0.1"));
  EXPECT_LT(place_of(names, "B0.1"), place_of(names, "B0.0"));
  EXPECT_LT(place_of(names, "B1.0"), names.size());
}

TEST(StageBuilder, GradientsOfWeightsComeAfterTheMessageToTheStageBefore) {
  EXPECT_THAT(names_of(plan_of("pp: 2, schedule: zb-h1", 2, 2, "2"), 1),
              ElementsAre("clear gradients", "pp receive activation", "F0", "B0", "pp send gradient",
                          "pp receive activation", "F1", "B1", "pp send gradient", "W0", "W1", "gradient norm",
                          "mp gradient norm", "optimizer"));
}

TEST(StageBuilder, BothHalvesOfABackwardPassHaveItsKernels) {
  const auto flops = [](const std::string& schedule) {
    const StepPlan plan = plan_of("tp: 2, pp: 2, sequence_parallel: true, schedule: " + schedule, 4, 2, "4");
    return plan.hardware_flops.count();
  };
  EXPECT_DOUBLE_EQ(flops("1f1b"), flops("zb-h1"));
}

TEST(StageBuilder, GradientsOfWeightsExchangeNothing) {
  const StepPlan plan = plan_of("tp: 2, pp: 2, sequence_parallel: true, schedule: zb-h1", 4, 2, "2");
  const std::vector<std::string> names = names_of(plan, 1);
  EXPECT_EQ(names[place_of(names, "W0") + 1], "W1");  // one computation each, of both halves of every layer
  const std::vector<std::string> whole = names_of(plan_of("tp: 2, pp: 2, sequence_parallel: true", 4, 2, "2"), 1);
  for (const std::string collective : {"tp all_gather", "tp reduce_scatter"}) {
    EXPECT_EQ(std::ranges::count(names, collective), std::ranges::count(whole, collective)) << collective;
  }
}

TEST(StageBuilder, GradientsAreReducedAfterTheLastGradientOfWeights) {
  const std::vector<std::string> names = names_of(
      plan_of("pp: 2, dp: 2, schedule: zb-h1, zero: {stage: 0, overlap_grad_reduce: true, bucket: 64KiB}", 4, 2, "8"),
      1);
  EXPECT_GT(place_of(names, "dp all_reduce gradients"), place_of(names, "W3"));
}

TEST(StageBuilder, PostValidationDoesNotWaitForTheNormOverAllStages) {
  const auto waits = [](const std::string& option) {
    const StepPlan plan = plan_of("pp: 2, schedule: zb-h1" + option, 2, 2, "2");
    const std::vector<std::string> names = names_of(plan, 0);
    return waits_for(plan.graph.programs[0], place_of(names, "optimizer"), place_of(names, "mp gradient norm"));
  };
  EXPECT_TRUE(waits(""));
  EXPECT_FALSE(waits(", optimizer_post_validation: true"));
}

TEST(StageBuilder, TheTurnOfAVNeedsNoMessage) {
  const std::vector<std::string> names = names_of(plan_of("pp: 2, schedule: zb-v", 2, 4, "2"), 1);
  // Chunk 0 receives from stage 0 and passes to chunk 1 here, which sends back: one of each per microbatch.
  EXPECT_EQ(std::ranges::count(names, "pp receive activation"), 2);
  EXPECT_EQ(std::ranges::count(names, "pp send activation"), 2);
}

TEST(StageBuilder, CopiesOfAPartAreSummedInModelOrder) {
  const StepPlan plan = plan_of("pp: 2, schedule: dualpipe", 2, 4, "4");
  EXPECT_EQ(plan.stage_parameters[0], plan.stage_parameters[1]);  // both hold both chunks
  std::vector<std::vector<Bytes>> reduced;
  for (const Program& program : plan.graph.programs) {
    std::vector<Bytes>& sizes = reduced.emplace_back();
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::kCollective || plan.graph.dimensions[task.dimension.index()].name != "mirror")
        continue;
      sizes.push_back(plan.graph.collectives[task.detail].bytes);
    }
  }
  ASSERT_EQ(reduced[0].size(), 2U);
  EXPECT_EQ(reduced[0], reduced[1]);
  EXPECT_EQ(reduced[0][0] + reduced[0][1], Bytes(4 * plan.stage_parameters[0]));  // fp32
}

TEST(StageBuilder, JoinedPassesSendAfterBoth) {
  const std::vector<std::string> names = names_of(plan_of("pp: 4, schedule: dualpipe", 4, 4, "16"), 0);
  // The first block of stage 0 after its fill: a forward pass of chunk 0 with a backward pass of chunk 1.
  const std::size_t block = place_of(names, "F6.0");
  EXPECT_THAT(std::vector<std::string>(names.begin() + static_cast<std::ptrdiff_t>(block) + 1,
                                       names.begin() + static_cast<std::ptrdiff_t>(block) + 5),
              ElementsAre("B3.1", "pp send activation", "pp send gradient", "pp receive activation"));
}

TEST(StageBuilder, StreamsKeepDimensionsApart) {
  const StepPlan plan = plan_of("tp: 2, pp: 2, dp: 2", 8);
  ASSERT_EQ(plan.graph.dimensions.size(), 4U);
  EXPECT_EQ(plan.graph.dimensions[0].name, "tp");
  EXPECT_EQ(plan.graph.dimensions[1].name, "dp");
  EXPECT_EQ(plan.graph.dimensions[2].name, "pp");
  EXPECT_EQ(plan.graph.dimensions[3].name, "mp");
  // Compute, tp, dp, two of the pipeline, mp.
  EXPECT_EQ(plan.graph.programs[0].stream_count, 6);
  for (const Task& task : plan.graph.programs[0].tasks) {
    EXPECT_EQ(task.stream == kComputeStream, task.kind == TaskKind::kCompute);
  }
}

}  // namespace
}  // namespace ringwright::workload::stage_builder_test
