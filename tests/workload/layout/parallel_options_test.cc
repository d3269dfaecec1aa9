#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::parallel_options_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems(const std::string& parallel, std::int64_t ranks, int layers = 4,
                                  const std::string& batch = "8") {
  return JobText(small_model(layers) + "training: {global_batch: " + batch + "}\nparallel: {" + parallel + "}\n", ranks)
      .problems();
}

TEST(ParallelOptions, DataParallelSizeIsWhatRemainsOfTheCluster) {
  const JobText job(small_model(4) + "training: {global_batch: 8}\nparallel: {tp: 2, pp: 2, dp: auto}\n", 16);
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(job.parallel.dp, 4);
  EXPECT_EQ(job.parallel.microbatches(job.training), 2);
}

TEST(ParallelOptions, ALayoutThatDoesNotFillTheClusterNamesBothPlaces) {
  EXPECT_THAT(
      problems("tp: 2, pp: 2, dp: 3", 16),
      ElementsAre("E130: parallel: tp 2 x cp 1 x pp 2 x dp 3 = 12 ranks, but cluster.nodes (job.yaml:99) = 16 ranks"
                  " | set parallel.dp: auto (4)",
                  "E136: training.global_batch = 8 is not a multiple of micro_batch x dp = 1 x 3 = 3"
                  " | dp comes from cluster.nodes (job.yaml:99) / (tp 2 x cp 1 x pp 2)"));
  EXPECT_THAT(
      problems("tp: 2, pp: 4", 12),
      ElementsAre("E130: parallel: tp 2 x cp 1 x pp 4 = 8 ranks do not divide cluster.nodes (job.yaml:99) = 12 ranks"));
}

TEST(ParallelOptions, LayersThatDoNotSpreadListTheValidValues) {
  EXPECT_THAT(
      problems("pp: 12", 12, 126),
      ElementsAre(
          "E131: parallel.pp = 12 does not divide 126 layers | valid values for 126 layers: 1 2 3 6 7 9 14 18 21 "
          "42 63 126; or set parallel.stage_layers: balanced, or trim-ends (16); or list them in "
          "parallel.layers_per_part"));
  EXPECT_THAT(
      problems("pp: 4, schedule: interleaved-1f1b, virtual_stages: 3", 4, 16),
      ElementsAre(
          "E131: parallel.pp x virtual_stages = 4 x 3 = 12 does not divide 16 layers | no value divides 16 layers; "
          "or set parallel.stage_layers: balanced, or trim-ends (3); or list them in parallel.layers_per_part"));
}

// A stage of DualPipe holds two chunks, but each chunk is on two stages: 4 stages have 4 chunks.
TEST(ParallelOptions, ChunksOfBothDirectionsCountOnce) {
  EXPECT_THAT(problems("pp: 4, schedule: dualpipe, virtual_stages: 2", 4, 10),
              Contains("E131: parallel.pp = 4 does not divide 10 layers | valid values for 10 layers: 1 2 5 10; or set "
                       "parallel.stage_layers: balanced, or trim-ends (4); or list them in parallel.layers_per_part"));
}

TEST(ParallelOptions, TrimmedEndsHoldOneLayerLess) {
  const JobText job(small_model(126) + "training: {global_batch: 16}\nparallel: {pp: 16, stage_layers: trim-ends}\n",
                    16);
  EXPECT_THAT(job.problems(), IsEmpty());
  // 126 = 7 + 14 x 8 + 7, Llama 3 405B on 16 stages.
  EXPECT_EQ(job.parallel.layers_per_part.front(), 7);
  EXPECT_EQ(job.parallel.layers_per_part.back(), 7);
  EXPECT_EQ(job.parallel.layers_per_part[1], 8);
}

TEST(ParallelOptions, LayersMayBeListed) {
  const JobText job(small_model(4) + "training: {global_batch: 8}\nparallel: {pp: 2, layers_per_part: [1, 3]}\n", 2);
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_THAT(job.parallel.layers_per_part, ElementsAre(1, 3));
  EXPECT_THAT(problems("pp: 2, layers_per_part: [1, 1, 3]", 2),
              ElementsAre("E131: parallel.layers_per_part has 3 entries that add up to 5, but there are 2 model "
                          "chunks (pp x virtual_stages) and 4 layers"));
}

TEST(ParallelOptions, TensorParallelSizeMustDivideHeadsAndMlp) {
  EXPECT_THAT(
      problems("tp: 3", 3),
      ElementsAre(
          "E134: parallel.tp = 3 does not divide the 8 attention heads of model.num_attention_heads (job.yaml:1)"
          " | valid values: 1 2 4 8",
          "E134: parallel.tp = 3 does not divide the 4 key-value heads of model.num_query_groups (job.yaml:1)"
          " | valid values: 1 2 4 8"));
}

TEST(ParallelOptions, MoreRanksThanKeyValueHeadsReplicateThem) {
  EXPECT_THAT(problems("tp: 8", 8), IsEmpty());
}

TEST(ParallelOptions, SequenceParallelismSplitsTheSequence) {
  const JobText job(
      "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, vocab_size: 100, seq_length: 30}\n"
      "training: {global_batch: 8}\nparallel: {tp: 4, sequence_parallel: true}\n",
      4);
  EXPECT_THAT(job.problems(),
              ElementsAre("E134: parallel.sequence_parallel needs model.seq_length (job.yaml:1) = 30 to be a "
                          "multiple of tp x cp = 4"));
}

TEST(ParallelOptions, ChunksNeedAScheduleAndStages) {
  EXPECT_THAT(
      problems("pp: 2, virtual_stages: 2", 2),
      ElementsAre("E137: parallel.virtual_stages = 2 needs a schedule with chunks, not '1f1b' | set parallel.schedule: "
                  "interleaved-1f1b"));
  EXPECT_THAT(problems("schedule: interleaved-1f1b, virtual_stages: 2", 1),
              ElementsAre("E137: parallel.virtual_stages = 2 needs more than one pipeline stage, but pp is 1"));
  EXPECT_THAT(problems("pp: 2, schedule: zb-v, virtual_stages: 3", 2),
              ElementsAre("E137: parallel.virtual_stages = 3, but stages of 'zb-v' hold two chunks | omit it, or set "
                          "it to 2"));
}

TEST(ParallelOptions, InterleavingTakesAnyNumberOfMicrobatchesThatCanRun) {
  EXPECT_THAT(problems("pp: 2, schedule: interleaved-1f1b, virtual_stages: 2", 2, 4, "7"), IsEmpty());
  // Groups of fewer microbatches than stages: the next chunk would start before the first microbatch returns.
  const auto messages = problems(
      "pp: 4, schedule: interleaved-1f1b, virtual_stages: 2, microbatch_group_size_per_vp_stage: 3", 4, 8, "5");
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_THAT(messages[0], testing::StartsWith(
                           "E137: 'interleaved-1f1b' with 5 microbatches in groups of 3 cannot run on pp = 4 stages; "
                           "stage 0: F4.1 waits forever: stage 0 in F4.1 for stage 3"));
  EXPECT_THAT(messages[0], testing::EndsWith(" | set parallel.microbatch_group_size_per_vp_stage: 5; microbatches = "
                                         "training.global_batch (job.yaml:2) 5 / (micro_batch 1 x dp 1)"));
  // Fewer microbatches than stages run as one group.
  const auto few = problems(
      "pp: 8, schedule: interleaved-1f1b, virtual_stages: 2, microbatch_group_size_per_vp_stage: 3", 8, 16, "6");
  ASSERT_EQ(few.size(), 1U);
  EXPECT_THAT(few[0], testing::HasSubstr(" | set parallel.microbatch_group_size_per_vp_stage: 8; "));
  EXPECT_THAT(problems("pp: 8, schedule: interleaved-1f1b, virtual_stages: 2, microbatch_group_size_per_vp_stage: 8", 8,
                       16, "6"),
              IsEmpty());
  // Of many stages the first ones are named.
  const auto many = problems(
      "pp: 18, schedule: interleaved-1f1b, virtual_stages: 2, microbatch_group_size_per_vp_stage: 5", 18, 36, "23");
  ASSERT_EQ(many.size(), 1U);
  EXPECT_THAT(many[0], testing::HasSubstr("further stages | set parallel.microbatch_group_size_per_vp_stage"));
}

TEST(ParallelOptions, DualPipeNeedsPairsOfStagesAndMicrobatches) {
  EXPECT_THAT(problems("pp: 3, schedule: dualpipe", 3, 6),
              ElementsAre("E137: parallel.pp = 3, but 'dualpipe' needs an even number of stages"));
  const std::string origin = " | microbatches = training.global_batch (job.yaml:2) ";
  EXPECT_THAT(problems("pp: 4, schedule: dualpipe", 4, 4, "7"),
              ElementsAre("E137: 'dualpipe' needs 8 microbatches or more, 2 for each of pp = 4 stages, but there are "
                          "7" + origin + "7 / (micro_batch 1 x dp 1)"));
  EXPECT_THAT(problems("pp: 4, schedule: dualpipe", 4, 4, "9"),
              ElementsAre("E137: 'dualpipe' needs an even number of microbatches, but there are 9" + origin +
                          "9 / (micro_batch 1 x dp 1)"));
}

TEST(ParallelOptions, SchedulesBringTheirPlacementAndChunks) {
  const auto parallel = [](const std::string& schedule) {
    const JobText job(small_model(8) + "training: {global_batch: 8}\nparallel: {pp: 4, schedule: " + schedule + "}\n",
                      4);
    EXPECT_THAT(job.problems(), IsEmpty());
    return job.parallel;
  };
  EXPECT_EQ(parallel("v-half").parts(), 8);
  EXPECT_EQ(parallel("v-half").layers_per_part.size(), 8U);
  EXPECT_EQ(parallel("dualpipe").parts(), 4);
  EXPECT_EQ(parallel("dualpipe").virtual_stages, 2);
  EXPECT_EQ(parallel("zb-h1").virtual_stages, 1);
  EXPECT_TRUE(parallel("zb-h1").overlap_p2p);
}

TEST(ParallelOptions, InterleavingOneChunkIsThePlainSchedule) {
  const JobText job(small_model(4) + "training: {global_batch: 7}\nparallel: {pp: 2, schedule: interleaved-1f1b}\n", 2);
  EXPECT_THAT(job.problems(), ElementsAre("W131: parallel.schedule has no effect: virtual_stages is 1, and 1f1b runs"));
  EXPECT_EQ(job.parallel.schedule, "1f1b");
}

TEST(ParallelOptions, SettingsWithoutEffectAreReported) {
  EXPECT_THAT(
      problems("dp: 2, sequence_parallel: true, zero: {stage: 0, overlap_param_gather: true, bucket: 40MiB}", 2),
      ElementsAre(
          "W131: parallel.sequence_parallel has no effect: tp is 1",
          "W131: parallel.zero.overlap_param_gather has no effect: without zero.stage 1 no parameters are gathered",
          "W131: parallel.zero.bucket has no effect: without overlap_grad_reduce all gradients are one bucket"));
  EXPECT_THAT(problems("zero: {stage: 1}", 1), ElementsAre("W131: parallel.zero.stage has no effect: dp is 1"));
}

TEST(ParallelOptions, ContextParallelRanksHaveTwoChunksOfASequence) {
  EXPECT_THAT(problems("cp: 2", 2), IsEmpty());
  EXPECT_THAT(problems("cp: 3, dp: 1", 3),
              ElementsAre("E139: parallel.cp = 3 needs model.seq_length (job.yaml:1) = 32 to be a multiple of 6 | each "
                          "rank has two chunks of a sequence (one with cp_balanced: false)"));
}

TEST(ParallelOptions, ExchangedHeadsAreDividedByTensorAndContextParallelism) {
  // 8 heads, 4 key-value heads: tp 2 x cp 2 is the maximum.
  EXPECT_THAT(problems("tp: 2, cp: 2, cp_comm_type: a2a", 4), IsEmpty());
  EXPECT_THAT(problems("tp: 2, cp: 4, cp_comm_type: a2a", 8), ElementsAre(HasSubstr("E139: parallel.cp_comm_type")));
  EXPECT_THAT(problems("tp: 2, cp: 4, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 2]", 8),
              IsEmpty());
  EXPECT_THAT(
      problems("cp: 4, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [3, 2]", 4),
      ElementsAre("E139: parallel.hierarchical_context_parallel_sizes must be two sizes whose product is cp = 4 "
                  "| for example [2, 2]"));
}

// Transformer Engine refuses windows in a ring; exchanged heads and gathered keys allow them.
TEST(ParallelOptions, WindowsNeedAllKeysOfAHeadOnARank) {
  const auto with_window = [](const std::string& parallel, int window) {
    return JobText("model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96,"
                   " vocab_size: 1000, seq_length: 32, sliding_window: " +
                       std::to_string(window) + "}\ntraining: {global_batch: 8}\nparallel: {cp: 4" + parallel + "}\n",
                   4)
        .problems();
  };
  EXPECT_THAT(with_window("", 8), ElementsAre(HasSubstr("E139: parallel.cp_comm_type: a ring of 4 ranks")));
  EXPECT_THAT(with_window(", cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 2]", 8),
              ElementsAre(HasSubstr("E139: parallel.cp_comm_type: a ring of 2 ranks")));
  EXPECT_THAT(with_window("", 32), IsEmpty());  // every token sees all before it
  EXPECT_THAT(with_window(", cp_comm_type: a2a", 8), IsEmpty());
  EXPECT_THAT(with_window(", cp_comm_type: all_gather", 8), IsEmpty());
}

TEST(ParallelOptions, ExpertSettingsNeedExperts) {
  EXPECT_THAT(problems("ep: 2", 2),
              ElementsAre("E138: parallel.ep = 2, but the model has no experts | omit ep, or set model.num_experts"));
  EXPECT_THAT(problems("moe_token_dispatcher_type: flex", 2),
              ElementsAre("W131: parallel.moe_token_dispatcher_type has no effect: the model has no experts"));
}

TEST(ParallelOptions, MegatronOverlapsMessagesOnlyWhenInterleaved) {
  const JobText plain(small_model(4) + "training: {global_batch: 8}\nparallel: {pp: 2}\n", 2);
  EXPECT_FALSE(plain.parallel.overlap_p2p);
  const JobText interleaved(small_model(4) +
                                "training: {global_batch: 8}\n"
                                "parallel: {pp: 2, schedule: interleaved-1f1b, virtual_stages: 2}\n",
                            2);
  EXPECT_TRUE(interleaved.parallel.overlap_p2p);
}

}  // namespace
}  // namespace ringwright::workload::parallel_options_test
