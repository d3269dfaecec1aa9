#include "workload/layout/stage_meshes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::stage_meshes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobText job_of(const std::string& parallel, std::int64_t ranks = 8, const std::string& training = "") {
  return JobText(small_model(4) + "training: {global_batch: 8" + training + "}\nparallel: {" + parallel + "}\n", ranks);
}

std::vector<std::string> problems(const std::string& parallel, std::int64_t ranks = 8,
                                  const std::string& training = "") {
  return job_of(parallel, ranks, training).problems();
}

TEST(StageMeshes, TakeTheSizesOfTheStageWithTheMost) {
  const JobText job = job_of("stages: [{layers: 1, tp: 4}, {layers: 3, tp: 2, dp: 2}]");
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(job.parallel.pp, 2);
  EXPECT_EQ(job.parallel.tp, 4);
  EXPECT_EQ(job.parallel.dp, 2);
  EXPECT_THAT(job.parallel.layers_per_part, ElementsAre(1, 3));
  EXPECT_EQ(job.parallel.microbatches(job.training), 4);
  // A microbatch has two sequences: one for each replica of the second stage, both for the only one of the first.
  EXPECT_EQ(training_of_stage(job.training, job.parallel, 0).micro_batch, 2);
  EXPECT_EQ(training_of_stage(job.training, job.parallel, 1).micro_batch, 1);
  EXPECT_THAT(stage_of_ranks(job.parallel), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(StageMeshes, AStageWithoutTensorParallelismHasNoSequenceParallelism) {
  const JobText job = job_of("sequence_parallel: true, stages: [{layers: 1, tp: 4}, {layers: 3, dp: 4}]");
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_TRUE(parallel_of_stage(job.parallel, 0).sequence_parallel);
  EXPECT_FALSE(parallel_of_stage(job.parallel, 1).sequence_parallel);
}

// Four ranks with a quarter of each sequence, two sequences; then two replicas of two ranks with halves of one.
TEST(StageMeshes, RanksExchangeWhatTheyHaveInCommon) {
  const std::vector<StageMesh> layout{{.tp = 4, .dp = 1, .layers = 1}, {.tp = 2, .dp = 2, .layers = 1}};
  const std::vector<StageEnds> ends = StageMeshes(layout).ends(Bytes(8000));
  ASSERT_EQ(ends.size(), 8U);
  EXPECT_THAT(ends[0].before, IsEmpty());
  EXPECT_THAT(ends[0].after, ElementsAre(StagePiece{RankId(4), Bytes(1000)}, StagePiece{RankId(6), Bytes(1000)}));
  EXPECT_THAT(ends[3].after, ElementsAre(StagePiece{RankId(5), Bytes(1000)}, StagePiece{RankId(7), Bytes(1000)}));
  EXPECT_THAT(ends[6].before, ElementsAre(StagePiece{RankId(0), Bytes(1000)}, StagePiece{RankId(1), Bytes(1000)}));
}

TEST(StageMeshes, EqualOnesExchangeWithTheSameRank) {
  const std::vector<StageMesh> layout(3, {.tp = 2, .dp = 2, .layers = 1});
  const std::vector<StageEnds> ends = StageMeshes(layout).ends(Bytes(800));
  for (std::size_t rank = 0; rank < 8; ++rank) {
    EXPECT_THAT(ends[rank].after, ElementsAre(StagePiece{RankId(rank + 4), Bytes(200)})) << rank;
  }
}

// Whatever the meshes, neighbours exchange every byte once.
TEST(StageMeshes, ExchangeEveryByteOnce) {
  for (const StageMesh mesh : {StageMesh{1, 1, 1}, StageMesh{3, 2, 1}, StageMesh{2, 6, 1}, StageMesh{12, 1, 1}}) {
    for (const StageMesh next : {StageMesh{1, 4, 1}, StageMesh{4, 3, 1}, StageMesh{6, 1, 1}}) {
      const std::vector<StageMesh> layout{mesh, next};
      const StageMeshes meshes(layout);
      Bytes sent, received;
      const std::vector<StageEnds> ends = meshes.ends(Bytes(144 * 144));
      for (const StageEnds& own : ends) {
        for (const StagePiece& piece : own.after) sent += piece.bytes;
        for (const StagePiece& piece : own.before) received += piece.bytes;
      }
      EXPECT_EQ(sent, Bytes(144 * 144));
      EXPECT_EQ(received, sent);
    }
  }
}

TEST(StageMeshes, GroupsOfTheirDimensions) {
  const std::vector<StageMesh> layout{{.tp = 2, .dp = 2, .layers = 1}, {.tp = 1, .dp = 2, .layers = 1}};
  const StageMeshes meshes(layout);
  using Group = std::vector<RankId>;
  EXPECT_THAT(meshes.tensor_dimension().groups, ElementsAre(Group{RankId(0), RankId(1)}, Group{RankId(2), RankId(3)},
                                                            Group{RankId(4)}, Group{RankId(5)}));
  EXPECT_THAT(meshes.data_dimension().groups,
              ElementsAre(Group{RankId(0), RankId(2)}, Group{RankId(1), RankId(3)}, Group{RankId(4), RankId(5)}));
  // A replica of the first stage exchanges with one of the second.
  EXPECT_THAT(meshes.pipeline_dimension().groups,
              ElementsAre(Group{RankId(0), RankId(1), RankId(4)}, Group{RankId(2), RankId(3), RankId(5)}));
  EXPECT_THAT(meshes.model_dimension().groups,
              ElementsAre(Group{RankId(0), RankId(1), RankId(4)}, Group{RankId(2), RankId(3), RankId(5)}));
}

TEST(StageMeshes, MustHaveAllRanksAndLayers) {
  EXPECT_THAT(problems("stages: [{layers: 2, tp: 4}, {layers: 1, tp: 2}]"),
              ElementsAre("E130: parallel.stages: tp x dp of 2 stages add up to 6 ranks, but cluster.nodes "
                          "(job.yaml:99) = 8 ranks",
                          "E131: parallel.stages: the stages have 3 layers, but model.num_layers (job.yaml:1) is 4"));
  EXPECT_THAT(problems("stages: [{layers: 4, tp: 3}]", 3), testing::Contains(HasSubstr("parallel.stages: tp = 3")));
  EXPECT_THAT(problems("stages: [{tp: 8}]"), testing::Contains(HasSubstr("layers")));
  EXPECT_THAT(problems("stages: []"), testing::Contains(HasSubstr("E593: parallel.stages lists no stages")));
}

TEST(StageMeshes, RefuseWhatTheyDoNotSupport) {
  const std::string stages = "stages: [{layers: 1, tp: 4}, {layers: 3, tp: 2, dp: 2}]";
  EXPECT_THAT(problems("tp: 2, " + stages),
              ElementsAre("E593: parallel.tp and parallel.stages both set the layout | remove parallel.tp"));
  EXPECT_THAT(problems("stage_layers: filled, " + stages), ElementsAre(HasSubstr("E593")));
  EXPECT_THAT(problems("fsdp: {}, " + stages), testing::Contains(HasSubstr("do not support sharded parameters")));
  EXPECT_THAT(problems("scatter_gather_p2p: false, " + stages),
              ElementsAre(HasSubstr("activations that travel whole")));
  EXPECT_THAT(problems("schedule: pipedream, " + stages), testing::Contains(HasSubstr("E593")));
  EXPECT_THAT(problems("stages: [{layers: 1, dp: 3}, {layers: 3, dp: 5}]", 8),
              testing::Contains(HasSubstr("do not divide over the 3 replicas of stage 0")));
}

}  // namespace
}  // namespace ringwright::workload::stage_meshes_test
