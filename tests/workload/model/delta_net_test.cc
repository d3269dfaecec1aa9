#include "workload/model/delta_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/layout/stage_chunks.h"
#include "workload/memory/activations.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::delta_net_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// h 64, 8 heads of 8, 4 key-value heads, f 96, V 1000 (padded to 1024), s 128; Gated DeltaNets of 4 heads of keys of 8
// and 8 of values of 16.
std::string model(const std::string& layers, const std::string& more) {
  return "model: {hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96, vocab_size: 1000,"
         " seq_length: 128, attention_output_gate: true, num_layers: " +
         layers + more + "}\n";
}
const std::string kSizes =
    ", linear_num_key_heads: 4, linear_num_value_heads: 8, linear_key_head_dim: 8, linear_value_head_dim: 16";
const std::string kEvery2 = kSizes + ", experimental_attention_variant: gated_delta_net, linear_attention_freq: 2";
const std::string kTraining = "training: {global_batch: 8, micro_batch: 1}\n";

ModelShape preset(const std::string& name) {
  const JobText job("model: {preset: " + name + "}\ntraining: {global_batch: 1}\nparallel: {}\n", 1);
  EXPECT_THAT(job.problems(), IsEmpty()) << name;
  return job.shape;
}

// Columns in: queries and keys 2 x 32, values and gates 2 x 128, two of each of 8 heads; convolution 4 x 192; 2 x 8;
// norms of 64 and of a head of 16. Heads are split among two ranks, norms are not.
TEST(DeltaNet, ALayerHasItsTensors) {
  const JobText job(model("2", kEvery2) + kTraining, 8);
  ASSERT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(count_elements(delta_net_tensors(job.shape, 1)), 64 * 336 + 128 * 64 + 4 * 192 + 16 + 64 + 16);
  EXPECT_EQ(count_elements(delta_net_tensors(job.shape, 2)), 64 * 168 + 64 * 64 + 4 * 96 + 8 + 64 + 16);
}

// Every second layer of three has attention, with twice the columns of queries.
TEST(DeltaNet, TheFrequencyPlacesLayersOfAttention) {
  const JobText job(model("3", kEvery2) + kTraining, 8);
  EXPECT_EQ(halves_of(job.shape, 0).mixer, Mixer::kDeltaNet);
  EXPECT_EQ(halves_of(job.shape, 1).mixer, Mixer::kAttention);
  EXPECT_EQ(halves_of(job.shape, 2).mixer, Mixer::kDeltaNet);
  const std::int64_t attention = 64 * (2 * 64 + 2 * 32) + 64 * 64 + 64;
  EXPECT_EQ(count_elements(attention_tensors(job.shape, 1)), attention);
  EXPECT_EQ(parameters(job.shape), 2 * 1000 * 64 + 64 + 2 * count_elements(delta_net_tensors(job.shape, 1)) +
                                       attention + 3 * count_elements(mlp_tensors(job.shape, 1)));
}

TEST(DeltaNet, MultiTokenPredictionHasALayerLikeTheLast) {
  const ModelShape shape = preset("qwen3-next-80b-a3b");
  EXPECT_EQ(halves_of(shape, 47).mixer, Mixer::kAttention);
  EXPECT_EQ(halves_of(shape, 48).mixer, Mixer::kAttention);
  EXPECT_EQ(halves_of(shape, 48).mlp, MlpKind::kExperts);
}

// The checkpoint's 81,324,862,720 parameters include the layer of multi-token prediction.
TEST(DeltaNet, Qwen3NextHasThePublishedParameters) {
  const ModelShape shape = preset("qwen3-next-80b-a3b");
  const std::int64_t predictor = count_elements(predictor_tensors(shape, 1)) +
                                 count_elements(attention_tensors(shape, 1)) +
                                 count_elements(expert_tensors(shape, {}));
  EXPECT_EQ(parameters(shape) + predictor, 81'324'862'720);
  // Of the 3 B for each token of its card, without embeddings.
  const std::int64_t embeddings = 2 * shape.vocabulary * shape.hidden;
  EXPECT_NEAR(static_cast<double>(active_parameters(shape) - embeddings), 3.25e9, 0.01e9);
}

// 34.7 B in model cards.
TEST(DeltaNet, Qwen35HasThePublishedParameters) {
  EXPECT_EQ(parameters(preset("qwen3.5-35b-a3b")), 34'660'610'688);
}

TEST(DeltaNet, LettersAreTheSameLayersInHalves) {
  const std::string training = kTraining + "parallel: {tp: 2, sequence_parallel: true, pp: 2}\n";
  const JobText whole(model("4", kEvery2) + training, 8);
  const JobText halves(model("8", kSizes + ", hybrid_override_pattern: 'G-*-G-*-'") + training, 8);
  ASSERT_THAT(whole.problems(), IsEmpty());
  ASSERT_THAT(halves.problems(), IsEmpty());
  EXPECT_EQ(parameters(halves.shape), parameters(whole.shape));
  const StepPlan one = whole.plan();
  const StepPlan other = halves.plan();
  EXPECT_EQ(one.model_flops.count(), other.model_flops.count());
  EXPECT_EQ(one.hardware_flops.count(), other.hardware_flops.count());
  EXPECT_EQ(one.communication, other.communication);
  EXPECT_EQ(one.stage_parameters, other.stage_parameters);
}

// No other layer has a Gated DeltaNet.
TEST(DeltaNet, ALayerOfMultiTokenPredictionMayBeTheOnlyOne) {
  const std::string layers = ", hybrid_override_pattern: '*-', mtp_num_layers: 1, mtp_hybrid_override_pattern: ";
  const auto job = [&](const char* predictor) {
    return JobText(model("2", kSizes + layers + predictor) + kTraining + "parallel: {}\n", 8);
  };
  const JobText net = job("'G-'");
  ASSERT_THAT(net.problems(), IsEmpty());
  EXPECT_EQ(halves_of(net.shape, 2).mixer, Mixer::kDeltaNet);
  const JobText dense(model("2", layers + "'-'") + kTraining + "parallel: {}\n", 8);
  ASSERT_THAT(dense.problems(), IsEmpty());
  EXPECT_GT(net.plan().hardware_flops.count(), dense.plan().hardware_flops.count());
}

// Megatron-LM, gdn_layer_flops: 2 (h columns in + 4 channels + 4 H dv^2 + H dv h) of a token, three times.
TEST(DeltaNet, ModelFlopsAreCountedAsMegatronDoes) {
  const JobText with(model("2", kEvery2) + kTraining, 8);
  const JobText without(model("1", "") + kTraining, 8);
  const double mlp = 2.0 * 3 * 64 * 96;
  const double layer = 2.0 * (64 * 336 + 4 * 192 + 4 * 8 * 16 * 16 + 128 * 64);
  const double tokens = 8 * 128;
  EXPECT_DOUBLE_EQ(with.plan().model_flops.count() - without.plan().model_flops.count(), 3.0 * tokens * (layer + mlp));
}

// In two bytes: inputs of norm and GEMM; the GEMM's 336 columns; normed queries and keys 2 x 32 and repeated 2 x 64;
// values, gates, results, normed results and the last GEMM's input, 128 each; of 8 heads a triangle of 64, a rate, and
// a decay in fp32.
TEST(DeltaNet, ActivationsAreStoredOnceForEachOperator) {
  const JobText job(model("2", kEvery2) + kTraining, 8);
  const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
  const LayerHalves mixer{.mixer = Mixer::kDeltaNet, .mlp = MlpKind::kNone};
  EXPECT_EQ(layer_activations(context, mixer),
            Bytes(128 * 2 * (2 * 64 + 336 + 64 + 128 + 5 * 128 + 8 * 65) + 128 * 4 * 8));
  const JobText again(model("2", kEvery2) +
                          "training: {global_batch: 8, micro_batch: 1, recompute: selective, recompute_modules: "
                          "[gdn_norm_out]}\n",
                      8);
  ASSERT_THAT(again.problems(), IsEmpty());
  EXPECT_EQ(layer_activations(context, mixer) -
                layer_activations(make_kernel_context(again.shape, again.training, again.parallel), mixer),
            Bytes(128 * 2 * 2 * 128));
}

// Queries and gates, keys, values; the core's result with a statistic of each head in fp32, and the gate's product.
TEST(DeltaNet, AnOutputGateStoresItsColumnsAndTheProduct) {
  const auto stored = [](const char* gate) {
    const JobText job(
        "model: {hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96, "
        "vocab_size: 1000, seq_length: 128, num_layers: 1, attention_output_gate: " +
            std::string(gate) + "}\n" + kTraining,
        8);
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel));
  };
  EXPECT_EQ(stored("true") - stored("false"), Bytes(128 * 2 * (64 + 64)));
}

TEST(DeltaNet, FullRecomputationRepeatsTheForwardPassOfALayer) {
  const auto hardware = [](const std::string& recompute) {
    return JobText(model("2", kEvery2) + "training: {global_batch: 8, micro_batch: 1, recompute: " + recompute + "}\n",
                   8)
        .plan()
        .hardware_flops.count();
  };
  EXPECT_GT(hardware("full"), 1.1 * hardware("none"));
}

TEST(DeltaNet, WhatIsNotModelledIsRefused) {
  const auto problems = [](const std::string& more, const std::string& rest = "") {
    return JobText(model("2", more) + kTraining + rest, 8).problems();
  };
  EXPECT_THAT(problems(", experimental_attention_variant: gated_delta_net"),
              ElementsAre(HasSubstr("linear_attention_freq")));
  EXPECT_THAT(problems(kEvery2 + ", hybrid_override_pattern: G-"),
              ElementsAre(HasSubstr("E461: model.experimental_attention_variant cannot be combined with hybrid")));
  EXPECT_THAT(problems(kEvery2 + ", sandwich_norm: true"),
              ElementsAre(HasSubstr("E461: layers of Gated DeltaNet cannot be combined with sandwich_norm")));
  EXPECT_THAT(problems(kEvery2 + ", parallel_attention_mlp: true"),
              ElementsAre(HasSubstr("E132: model.parallel_attention_mlp")));
  EXPECT_THAT(problems(", experimental_attention_variant: gated_delta_net, linear_attention_freq: 2, "
                       "linear_num_key_heads: 5"),
              ElementsAre(HasSubstr("E460: model.linear_num_key_heads = 5 does not divide the 32 heads of values")));
  EXPECT_THAT(problems(kEvery2, "parallel: {tp: 8}\n"), Contains(HasSubstr("E460: parallel.tp = 8 does not divide the "
                                                                           "4 heads of keys")));
}

}  // namespace
}  // namespace ringwright::workload::delta_net_test
