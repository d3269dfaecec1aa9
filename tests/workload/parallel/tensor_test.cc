#include "workload/parallel/tensor.h"

#include <algorithm>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"

namespace ringwright::workload::tensor_test {
namespace {

using testing::ElementsAre;

struct Played {
  TaskGraph graph;
  Program program;
  [[nodiscard]] std::vector<std::string> names() const { return task_names(graph, program); }
};

// The tasks that `emit` makes for one rank of two.
template <class Emit>
Played play_job(const std::string& text, Emit emit) {
  const JobText job(text, 2);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  GraphTables tables;
  SectionTable sections(tables, make_kernel_context(job.shape, job.training, job.parallel));
  ContextParallel context(sections, job.parallel, {}, 0);
  const CommStream calls{.dimension = DimensionId(0), .stream = 1};
  TensorParallel tensor(sections, context, {.calls = calls, .tiles = {}});
  ProgramWriter writer(tables, "stage 0");
  writer.name_work({.label = "work", .work = "work"});
  emit(tensor, writer);
  Played played{.graph = {}, .program = writer.finish(2)};
  tables.move_into(played.graph);
  return played;
}

template <class Emit>
Played play(const std::string& parallel, Emit emit) {
  return play_job(small_model(2) + "training: {global_batch: 8}\nparallel: {tp: 2" + parallel + "}\n", emit);
}

TEST(TensorParallel, ForwardHalvesEndInAnAllReduce) {
  const Played played = play("", [](TensorParallel& tensor, ProgramWriter& writer) {
    tensor.attention_forward(writer);
    tensor.mlp_forward(writer);
  });
  EXPECT_THAT(played.names(), ElementsAre("work", "tp all_reduce", "work", "tp all_reduce", "work"));
  for (std::size_t task = 1; task < 5; ++task) EXPECT_TRUE(waits_for(played.program, task, task - 1)) << task;
  // The residual after the attention and all of the MLP lie between the two.
  EXPECT_THAT(kernel_names(played.graph, played.program.tasks[2]),
              ElementsAre("residual add", "mlp norm", "mlp up", "swiglu", "mlp down"));
}

TEST(TensorParallel, SequenceParallelHalvesGatherAndScatter) {
  const Played played = play(", sequence_parallel: true",
                             [](TensorParallel& tensor, ProgramWriter& writer) { tensor.attention_forward(writer); });
  EXPECT_THAT(played.names(), ElementsAre("work", "tp all_gather", "work", "tp reduce_scatter", "work"));
}

// PyTorch's DTensor: nothing is gathered again, and each exchange is waited for immediately.
TEST(TensorParallel, AGatheredInputMayStayForItsWeightGradient) {
  const auto backward = [](const std::string& parallel) {
    return play(", sequence_parallel: true" + parallel,
                [](TensorParallel& tensor, ProgramWriter& writer) { tensor.mlp_backward(writer); })
        .names();
  };
  EXPECT_EQ(std::ranges::count(backward(""), "tp all_gather"), 2);
  EXPECT_THAT(backward(", keep_gathered_inputs: true, async_tensor_model_parallel_allreduce: false"),
              ElementsAre("tp all_gather", "work", "tp reduce_scatter", "work"));
}

// Of an attention half and an MLP half: what a rank recomputes only a part of is summed or gathered again, unless it
// was saved. A reduce-scatter's result is saved by torchtitan's `op`, not by JAX's policies.
TEST(TensorParallel, RecomputedOperatorsRepeatTheirExchanges) {
  const auto backward = [](const std::string& recompute, const std::string& parallel, const std::string& kind) {
    const Played played = play_job(small_model(2) + "training: {global_batch: 8, recompute: " + recompute +
                                       "}\nparallel: {tp: 2" + parallel + "}\n",
                                   [](TensorParallel& tensor, ProgramWriter& writer) {
                                     tensor.mlp_backward(writer);
                                     tensor.attention_backward(writer);
                                   });
    return std::ranges::count(played.names(), "tp " + kind);
  };
  const std::string split = ", sequence_parallel: true";
  const std::string whole = split + ", keep_gathered_inputs: true";
  const std::string all_saved = "except-saved, recompute_saves: [qkv, core_attn, proj, mlp_up]";
  EXPECT_EQ(backward("none", "", "all_reduce"), 2);
  EXPECT_EQ(backward("selective-ops", "", "all_reduce"), 3);
  EXPECT_EQ(backward("except-saved", "", "all_reduce"), 3);
  EXPECT_EQ(backward(all_saved, "", "all_reduce"), 2);
  EXPECT_EQ(backward("selective-ops", split, "reduce_scatter"), 2);
  EXPECT_EQ(backward("except-saved", split, "reduce_scatter"), 3);
  EXPECT_EQ(backward(all_saved, split, "reduce_scatter"), 2);
  // Each half gathers its output's gradient, and its input once.
  EXPECT_EQ(backward("none", whole, "all_gather"), 2);
  for (const std::string& recompute : {std::string("selective-ops"), std::string("except-saved"), all_saved}) {
    EXPECT_EQ(backward(recompute, split, "all_gather"), 4) << recompute;
    EXPECT_EQ(backward(recompute, whole, "all_gather"), 4) << recompute;
  }
}

// A frozen layer in fp8 gathers its input in one byte; one whose adapter also takes the input, in two.
TEST(TensorParallel, AnAdapterIsGivenTheInputInTheWorkingType) {
  const auto gathered = [](const std::string& modules, bool attention) {
    const std::string text =
        "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, num_query_groups: 4,"
        " ffn_hidden_size: 96, vocab_size: 1000, seq_length: 32, lora: {rank: 4, target_modules: [" +
        modules +
        "]}}\n"
        "training: {global_batch: 8, fp8_recipe: delayed, fp8_gather: true}\n"
        "parallel: {tp: 2, sequence_parallel: true}\n";
    const Played played = play_job(text, [&](TensorParallel& tensor, ProgramWriter& writer) {
      attention ? tensor.attention_forward(writer) : tensor.mlp_forward(writer);
    });
    return played.graph.collectives[played.program.tasks[1].detail].bytes;  // norm, gather, GEMMs, scatter, residual
  };
  EXPECT_EQ(gathered("linear_proj", true), Bytes(32 * 64));
  EXPECT_EQ(gathered("linear_qkv", true), Bytes(32 * 64 * 2));
  EXPECT_EQ(gathered("linear_qkv", false), Bytes(32 * 64));
}

TEST(TensorParallel, TheReductionOfTheInputGradientOverlapsTheWeightGradient) {
  const Played played = play("", [](TensorParallel& tensor, ProgramWriter& writer) { tensor.mlp_backward(writer); });
  EXPECT_THAT(played.names(), ElementsAre("work", "tp all_reduce", "work", "work"));
  EXPECT_THAT(kernel_names(played.graph, played.program.tasks[2]), ElementsAre("mlp up wgrad"));
  EXPECT_FALSE(waits_for(played.program, 2, 1));
  EXPECT_TRUE(waits_for(played.program, 3, 1));
}

TEST(TensorParallel, WithoutAsynchronousReductionsTheWeightGradientWaits) {
  const Played played = play(", async_tensor_model_parallel_allreduce: false",
                             [](TensorParallel& tensor, ProgramWriter& writer) { tensor.mlp_backward(writer); });
  EXPECT_THAT(played.names(), ElementsAre("work", "tp all_reduce", "work"));
  EXPECT_TRUE(waits_for(played.program, 2, 1));
  const Played split = play(", sequence_parallel: true, async_tensor_model_parallel_allreduce: false",
                            [](TensorParallel& tensor, ProgramWriter& writer) { tensor.mlp_backward(writer); });
  for (std::size_t task = 1; task < split.program.tasks.size(); ++task) {
    EXPECT_TRUE(waits_for(split.program, task, task - 1)) << task;
  }
}

TEST(TensorParallel, TheInputIsGatheredAgainConcurrentlyWithItsGradient) {
  const Played played = play(", sequence_parallel: true",
                             [](TensorParallel& tensor, ProgramWriter& writer) { tensor.mlp_backward(writer); });
  // Gather the output's gradient; down GEMM; gather the input concurrently with dgrad; scatter concurrently with wgrad;
  // norm.
  EXPECT_THAT(played.names(),
              ElementsAre("tp all_gather", "work", "tp all_gather", "work", "tp reduce_scatter", "work", "work"));
  EXPECT_THAT(kernel_names(played.graph, played.program.tasks[3]), ElementsAre("mlp up dgrad"));
  EXPECT_FALSE(waits_for(played.program, 3, 2));
  EXPECT_THAT(kernel_names(played.graph, played.program.tasks[5]), ElementsAre("mlp up wgrad"));
  EXPECT_TRUE(waits_for(played.program, 5, 2));
  EXPECT_FALSE(waits_for(played.program, 5, 4));
  EXPECT_TRUE(waits_for(played.program, 6, 4));
}

TEST(TensorParallel, TheLossTakesThreeSmallReductions) {
  const Played played = play("", [](TensorParallel& tensor, ProgramWriter& writer) { tensor.head_forward(writer); });
  EXPECT_THAT(played.names(),
              ElementsAre("work", "tp all_reduce", "work", "tp all_reduce", "work", "tp all_reduce", "work"));
  // 32 tokens, four bytes each.
  EXPECT_EQ(played.graph.collectives[played.program.tasks[1].detail].bytes, Bytes(128));
}

// Bytes of the collectives, in order.
std::vector<std::int64_t> bytes_of(const Played& played) {
  std::vector<std::int64_t> bytes;
  for (const Task& task : played.program.tasks) {
    if (task.kind != TaskKind::kCollective) continue;
    bytes.push_back(played.graph.collectives[task.detail].bytes.count());
  }
  return bytes;
}

// 32 tokens on each of two ranks: Megatron's fused loss sums two fp32 values of a token at once, Transformer Engine
// gathers three.
TEST(TensorParallel, FusedLossesExchangeSeveralValuesAtOnce) {
  const auto loss = [](const std::string& kind) {
    return play_job(small_model(2) + "training: {global_batch: 8, cross_entropy: " + kind + "}\nparallel: {tp: 2}\n",
                    [](TensorParallel& tensor, ProgramWriter& writer) { tensor.head_forward(writer); });
  };
  EXPECT_THAT(loss("split-fused").names(),
              ElementsAre("work", "tp all_reduce", "work", "tp all_reduce", "work"));
  EXPECT_THAT(bytes_of(loss("split-fused")), ElementsAre(32 * 4, 2 * 32 * 4));
  EXPECT_THAT(loss("fused").names(), ElementsAre("work", "tp all_gather"));
  EXPECT_THAT(bytes_of(loss("fused")), ElementsAre(2 * 3 * 32 * 4));
}

// Megatron-LM, multi_token_prediction.py: the next tokens' embeddings are summed and scattered; the projection gathers
// 2h values of a token and its result's columns. In reverse the result's gradient is gathered, then the input again
// while its gradient is computed, which is scattered; the embedding gathers its gradient.
TEST(TensorParallel, APredictorExchangesTheNextEmbeddingsAndBothHalvesOfItsInput) {
  const auto job = [](const std::string& parallel, bool forward) {
    return play_job("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, num_query_groups: 4,"
                    " ffn_hidden_size: 96, vocab_size: 1000, seq_length: 32, mtp_num_layers: 1}\n"
                    "training: {global_batch: 8}\nparallel: {tp: 2" + parallel + "}\n",
                    [&](TensorParallel& tensor, ProgramWriter& writer) {
                      forward ? tensor.predictor_forward(writer) : tensor.predictor_backward(writer);
                    });
  };
  constexpr std::int64_t kOne = 32 * 64 * 2;
  const std::string split = ", sequence_parallel: true";
  EXPECT_THAT(job(split, true).names(),
              ElementsAre("work", "tp reduce_scatter", "tp all_gather", "work", "tp all_gather"));
  EXPECT_THAT(bytes_of(job(split, true)), ElementsAre(kOne, 2 * kOne, kOne));
  EXPECT_THAT(job(split, false).names(),
              ElementsAre("tp all_gather", "tp all_gather", "work", "tp reduce_scatter", "work", "work",
                          "tp all_gather", "work"));
  EXPECT_THAT(bytes_of(job(split, false)), ElementsAre(kOne, 2 * kOne, 2 * kOne, kOne));
  EXPECT_THAT(bytes_of(job("", true)), ElementsAre(kOne, kOne));
  EXPECT_THAT(bytes_of(job("", false)), ElementsAre(2 * kOne));
}

// 32 tokens of 64 values in two bytes each. With a scale for the tensor: one byte, and the gradient is transposed after
// its gather. MXFP8 has a byte of scale for 32 values, NVFP4 one for 16, and both gather the gradient in two layouts.
TEST(TensorParallel, BlockScalesTravelWithTheirValues) {
  const auto gathered = [](const std::string& recipe, bool forward) {
    return bytes_of(play_job(small_model(2) + "training: {global_batch: 8, fp8_gather: true, " + recipe +
                                 "}\nparallel: {tp: 2, sequence_parallel: true}\n",
                             [&](TensorParallel& tensor, ProgramWriter& writer) {
                               forward ? tensor.mlp_forward(writer) : tensor.mlp_backward(writer);
                             }));
  };
  constexpr std::int64_t kValues = 32 * 64;
  constexpr std::int64_t kSum = 2 * kValues;
  EXPECT_THAT(gathered("fp8_recipe: delayed", true), ElementsAre(kValues, kSum));
  EXPECT_THAT(gathered("fp8_recipe: delayed", false), ElementsAre(kValues, kValues, kSum));
  constexpr std::int64_t kMx = kValues + kValues / 32;
  EXPECT_THAT(gathered("fp8_recipe: mxfp8", true), ElementsAre(kMx, kSum));
  EXPECT_THAT(gathered("fp8_recipe: mxfp8", false), ElementsAre(2 * kMx, kMx, kSum));
  constexpr std::int64_t kNv = kValues / 2 + kValues / 16;
  EXPECT_THAT(gathered("fp4_recipe: nvfp4", false), ElementsAre(2 * kNv, kNv, kSum));
}

// 32 tokens with latent vectors of 48 and 16 values and a rotated part of 8: all are gathered for the weight gradient,
// and before that the latent vectors for the up-projections that are computed again.
TEST(TensorParallel, RecomputedUpProjectionsGatherTheLatentVectors) {
  const auto backward = [](const std::string& training, bool split) {
    return bytes_of(play_job("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96,"
                             " vocab_size: 1000, seq_length: 32, multi_latent_attention: true, q_lora_rank: 48,"
                             " kv_lora_rank: 16, qk_head_dim: 8, qk_pos_emb_head_dim: 8, v_head_dim: 8}\n"
                             "training: {global_batch: 8" + training + "}\nparallel: {tp: 2, sequence_parallel: " +
                                 (split ? "true" : "false") + "}\n",
                             [](TensorParallel& tensor, ProgramWriter& writer) { tensor.attention_backward(writer); }));
  };
  constexpr std::int64_t kGradient = 32 * 64 * 2;
  constexpr std::int64_t kLatent = 32 * (48 + 16) * 2;
  constexpr std::int64_t kAll = 32 * (48 + 16 + 8) * 2;
  const std::string again = ", recompute: selective, recompute_modules: [mla_up_proj]";
  EXPECT_THAT(backward("", true), ElementsAre(kGradient, kAll, kAll));
  EXPECT_THAT(backward(again, true), ElementsAre(kLatent, kGradient, kAll, kAll));
  EXPECT_EQ(backward(again, false), backward("", false));
}

TEST(TensorParallel, EmbeddingsAreSummedForwardAndGatheredBackward) {
  const auto both = [](TensorParallel& tensor, ProgramWriter& writer) {
    tensor.embedding_forward(writer);
    tensor.embedding_backward(writer);
  };
  EXPECT_THAT(play("", both).names(), ElementsAre("work", "tp all_reduce", "work"));
  EXPECT_THAT(play(", sequence_parallel: true", both).names(),
              ElementsAre("work", "tp reduce_scatter", "tp all_gather", "work"));
}

// They are added to whole sequences, of which each rank then takes its part.
TEST(TensorParallel, LearnedPositionsNeedTheWholeEmbedding) {
  const Played played = play_job(
      "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000,"
      " seq_length: 32, position_embedding: learned}\n"
      "training: {global_batch: 8}\nparallel: {tp: 2, sequence_parallel: true}\n",
      [](TensorParallel& tensor, ProgramWriter& writer) { tensor.embedding_forward(writer); });
  EXPECT_THAT(played.names(), ElementsAre("work", "tp all_reduce", "work"));
  const Kernel& added = played.graph.works[played.program.tasks[2].detail].kernels.front();
  EXPECT_EQ(added.name, "position embedding add");
  EXPECT_EQ(added.bytes, Bytes(3 * 32 * 64 * 2));
}

TEST(TensorParallel, ReplicatedGradientsAreSummedOnlyUnderSequenceParallelism) {
  const auto reduce = [](TensorParallel& tensor, ProgramWriter& writer) {
    tensor.reduce_replicated(writer, Bytes(512));
  };
  EXPECT_THAT(play("", reduce).names(), ElementsAre());
  EXPECT_THAT(play(", sequence_parallel: true", reduce).names(), ElementsAre("tp all_reduce"));
}

TEST(TensorParallel, OneRankDoesNotTalk) {
  const JobText job(small_model(2) + "training: {global_batch: 8}\n", 1);
  GraphTables tables;
  SectionTable sections(tables, make_kernel_context(job.shape, job.training, job.parallel));
  ContextParallel context(sections, job.parallel, {}, 0);
  TensorParallel tensor(sections, context, {});
  ProgramWriter writer(tables, "stage 0");
  tensor.attention_forward(writer);
  tensor.mlp_forward(writer);
  tensor.mlp_backward(writer);
  tensor.gather_activation(writer);
  EXPECT_EQ(writer.finish(1).tasks.size(), 1U);
}

}  // namespace
}  // namespace ringwright::workload::tensor_test
