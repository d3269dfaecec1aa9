#include "workload/memory/activations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::activations_test {
namespace {

// s 64, b 2, h 128, a 8, f 4h: GPT with all its dropouts, so that the paper's table applies unchanged.
KernelContext gpt(const std::string& training, const std::string& parallel, std::int64_t ranks,
                  const std::string& more = "") {
  const JobText job(
      "model: {num_layers: 2, hidden_size: 128, num_attention_heads: 8, vocab_size: 2048, seq_length: 64, activation: "
      "gelu,"
      " hidden_dropout: 0.1, attention_dropout: 0.1" +
          more +
          "}\n"
          "training: {global_batch: 8, micro_batch: 2, attention: unfused, " +
          training + "}\nparallel: {" + parallel + "}\n",
      ranks);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

constexpr std::int64_t kSbh = 64 * 2 * 128;
constexpr std::int64_t kScores = 5 * 8 * 64 / 128;  // 5as/h = 20

// Korthikanti et al., arXiv 2205.05198, Table 2, row by row.
TEST(Activations, FollowTheTableOfKorthikanti) {
  EXPECT_EQ(layer_activations(gpt("recompute: none", "tp: 1", 1)), Bytes(kSbh * (34 + kScores)));
  EXPECT_EQ(layer_activations(gpt("recompute: none", "tp: 4", 4)), Bytes(kSbh * (10 + 24 / 4 + kScores / 4)));
  EXPECT_EQ(layer_activations(gpt("recompute: none", "tp: 4, sequence_parallel: true", 4)),
            Bytes(kSbh / 4 * (34 + kScores)));
  EXPECT_EQ(layer_activations(gpt("recompute: selective", "tp: 4", 4)), Bytes(kSbh * (10 + 24 / 4)));
  EXPECT_EQ(layer_activations(gpt("recompute: selective", "tp: 4, sequence_parallel: true", 4)), Bytes(kSbh * 34 / 4));
  EXPECT_EQ(layer_activations(gpt("recompute: full", "tp: 4", 4)), Bytes(kSbh * 2));
}

// A byte less for each of its two columns of f.
TEST(Activations, AnInputOfSwiGluInFp8NeedsAByteLess) {
  const auto stored = [](const std::string& model, const std::string& training) {
    const JobText job("model: {preset: " + model + "}\ntraining: {global_batch: 1, " + training + "}\n", 1);
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel));
  };
  const std::string fp8 = "recompute: none, activation_func_fp8_input_store: true";
  EXPECT_EQ(stored("llama3-8b", "recompute: none") - stored("llama3-8b", fp8), Bytes(8192LL * 2 * 14336));
}

// The results of attention and MLP, in two bytes each.
TEST(Activations, ASandwichStoresTheInputsOfItsFurtherNorms) {
  const std::string parallel = "tp: 4, sequence_parallel: true";
  EXPECT_EQ(layer_activations(gpt("recompute: none", parallel, 4, ", sandwich_norm: true")),
            layer_activations(gpt("recompute: none", parallel, 4)) + Bytes(kSbh / 4 * 4));
  EXPECT_EQ(layer_activations(gpt("recompute: full", parallel, 4, ", sandwich_norm: true")),
            layer_activations(gpt("recompute: full", parallel, 4)));
}

// Queries and keys (h each) before their norm, in two bytes, in addition to those that attention stores. Every tensor
// rank has those of its heads, with and without sequence parallelism.
TEST(Activations, ANormOfQueriesAndKeysStoresItsInput) {
  for (const std::string parallel : {"tp: 4", "tp: 4, sequence_parallel: true"}) {
    for (const std::string recompute : {"recompute: none", "recompute: selective"}) {
      EXPECT_EQ(layer_activations(gpt(recompute, parallel, 4, ", qk_layernorm: true")),
                layer_activations(gpt(recompute, parallel, 4)) + Bytes(2 * 2 * kSbh / 4));
    }
    EXPECT_EQ(layer_activations(gpt("recompute: full", parallel, 4, ", qk_layernorm: true")),
              layer_activations(gpt("recompute: full", parallel, 4)));
  }
}

// Input and last GEMM (h each), queries, values and the core's result (h each), one GEMM of 4 h, in two bytes; the
// unfused core's 5as/h as before. Recomputed tensors are alive during a layer's backward pass.
TEST(Activations, SelectiveOperatorsStoreEverySecondGemm) {
  const KernelContext context = gpt("recompute: selective-ops", "tp: 1", 1);
  EXPECT_EQ(layer_activations(context), Bytes(kSbh * (2 * (5 + 4) + kScores)));
  EXPECT_EQ(recomputed_layer(context), Bytes(kSbh * (34 - 2 * (5 + 4))));
}

// The layer's input (h), queries, keys and values (3 h), the projection's result (h) and the up GEMM's (4 h), in two
// bytes.
TEST(Activations, OnlyNamedResultsAreStoredWithTheInput) {
  EXPECT_EQ(layer_activations(gpt("recompute: except-saved", "tp: 1", 1)), Bytes(kSbh * 2));
  EXPECT_EQ(layer_activations(gpt("recompute: except-saved, recompute_saves: [qkv]", "tp: 1", 1)), Bytes(kSbh * 2 * 4));
  const KernelContext products = gpt("recompute: except-saved, recompute_saves: [qkv, proj, mlp_up]", "tp: 1", 1);
  EXPECT_EQ(layer_activations(products), Bytes(kSbh * 2 * (1 + 3 + 1 + 4)));
  EXPECT_EQ(recomputed_layer(products), Bytes(kSbh * (34 + kScores - 2 * (1 + 3 + 1 + 4))));
}

TEST(Activations, OnlyFullRecomputationHasALiveLayer) {
  EXPECT_EQ(recomputed_layer(gpt("recompute: none", "tp: 1", 1)), Bytes(0));
  EXPECT_EQ(recomputed_layer(gpt("recompute: full", "tp: 1", 1)), Bytes(kSbh * (34 + kScores)));
}

TEST(Activations, EmbeddingStoresItsMaskAndTheTokens) {
  EXPECT_EQ(embedding_activations(gpt("recompute: none", "tp: 1", 1)), Bytes(kSbh + 8 * 64 * 2));
  EXPECT_EQ(embedding_activations(gpt("recompute: none", "tp: 4, sequence_parallel: true", 4)),
            Bytes(kSbh / 4 + 8 * 64 * 2));
}

TEST(Activations, HeadStoresTwoInputsAndTheSoftmax) {
  // 4sbh/t (1 + V/h) of the paper, section 4.3, with sequence parallelism.
  EXPECT_EQ(head_activations(gpt("recompute: none", "tp: 4, sequence_parallel: true", 4)),
            Bytes(4 * kSbh / 4 * (1 + 2048 / 128)));
  EXPECT_EQ(head_workspace(gpt("recompute: none", "tp: 4", 4)), Bytes(2 * 64 * 2 * 2048 / 4));
}

TEST(Activations, GradientsOfAnMlpAreAliveTogether) {
  // Output h, activation f/t, up GEMM f/t (GELU), two bytes each.
  EXPECT_EQ(gradient_workspace(gpt("recompute: none", "tp: 4", 4)), Bytes(2 * 64 * 2 * (128 + 128 + 128)));
}

// Llama 3 8B with four ranks that gather keys and values: 2048 tokens, results of 4096 columns, which are stored once
// more as those of two chunks; not where only the projection stores them, or stores a cast of them.
TEST(Activations, ResultsOfChunksAreStoredNextToTheirCopy) {
  const auto stored = [](const std::string& exchange, const std::string& training) {
    const JobText job("model: {preset: llama3-8b, seq_length: 8192}\ntraining: {global_batch: 8, " + training +
                          "}\nparallel: {cp: 4, cp_comm_type: " + exchange + "}\n",
                      4);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel));
  };
  EXPECT_EQ(stored("all_gather", "recompute: none") - stored("p2p", "recompute: none"), Bytes(2048 * 4096 * 2));
  EXPECT_EQ(stored("all_gather", "recompute: selective"), stored("p2p", "recompute: selective"));
  EXPECT_EQ(stored("all_gather", "fp8_recipe: delayed"), stored("p2p", "fp8_recipe: delayed"));
}

}  // namespace
}  // namespace ringwright::workload::activations_test
