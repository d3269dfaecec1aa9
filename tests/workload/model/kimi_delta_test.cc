// Kimi Delta Attention: its weights, kernels, exchanges and stored activations.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/task_graph.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::kimi_delta_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// h 64, s 128; 4 heads of 16, decays and gates by 8 columns in between; the last of three layers has attention.
std::string model(const std::string& more = ", kda_f_lora_rank: 8, kda_gate_lora_rank: 8") {
  return "model: {hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, seq_length: 128, "
         "num_layers: 3, experimental_attention_variant: kimi_delta_attention, full_attn_layers: [3], "
         "linear_num_key_heads: 4, linear_num_value_heads: 4, linear_key_head_dim: 16, linear_value_head_dim: 16" +
         more + "}\n";
}
const std::string kTraining = "training: {global_batch: 1}\n";

JobText job_of(const std::string& parallel = "", std::int64_t ranks = 1) {
  return JobText(model() + kTraining + "parallel: {" + parallel + "}\n", ranks);
}
KernelContext context_of(const JobText& job) {
  return make_kernel_context(job.shape, job.training, job.parallel);
}

double flops_of(LayerSection section, const KernelContext& context, std::string_view name = "") {
  double sum = 0.0;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.name.starts_with(name)) sum += kernel.flops.count();
  }
  return sum;
}

// The tensors of modeling_kimi.py, layer by layer; with them 26 x 256 correction biases of routers, which no kernel
// costs, are the checkpoint's 49,122,681,728.
TEST(KimiDelta, KimiLinearHasTheParametersOfItsCheckpoint) {
  const std::string preset = "kimi-linear-48b-a3b";
  const JobText job("model: {preset: " + preset + "}\ntraining: {global_batch: 1}\nparallel: {}\n", 1);
  ASSERT_THAT(job.problems(), IsEmpty());
  constexpr std::int64_t h = 2304;
  constexpr std::int64_t wide = 32 * 128;
  // Queries, keys, values and the result; convolutions; rates; two narrow pairs; a decay of each head, a bias of each
  // channel; the norm of a head, and that of the layer.
  constexpr std::int64_t delta =
      4 * h * wide + 3 * 4 * wide + h * 32 + 2 * (h * 128 + 128 * wide) + 32 + wide + 128 + h;
  EXPECT_EQ(count_elements(delta_net_tensors(job.shape, 1)), delta);
  constexpr std::int64_t latent = h * 32 * 192 + h * 576 + 512 + 512 * 32 * 256 + wide * h + h;
  EXPECT_EQ(count_elements(attention_tensors(job.shape, 1)), latent);
  EXPECT_EQ(parameters(job.shape), 49'122'681'728 - 26 * 256);
  const std::int64_t embeddings = 2 * job.shape.vocabulary * job.shape.hidden;
  EXPECT_NEAR(static_cast<double>(active_parameters(job.shape) - embeddings), 2.7e9, 0.1e9);
}

TEST(KimiDelta, AListPlacesLayersOfAttention) {
  const JobText job = job_of();
  ASSERT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(halves_of(job.shape, 0).mixer, Mixer::kDeltaNet);
  EXPECT_EQ(halves_of(job.shape, 1).mixer, Mixer::kDeltaNet);
  EXPECT_EQ(halves_of(job.shape, 2).mixer, Mixer::kAttention);
}

// Without narrow GEMMs decays and gates are columns of the first one.
TEST(KimiDelta, ALayerHasItsTensors) {
  const auto elements = [](const std::string& more, std::int64_t tp) {
    const JobText job(model(more) + kTraining, 1);
    EXPECT_THAT(job.problems(), IsEmpty()) << more;
    return count_elements(delta_net_tensors(job.shape, tp));
  };
  const std::int64_t others = 64 + 4 * 3 * 64 + 64 * 4 + 4 + 64 + 16 + 64 * 64;
  EXPECT_EQ(elements("", 1), 64 * 5 * 64 + others);
  EXPECT_EQ(elements(", kda_f_lora_rank: 8, kda_gate_lora_rank: 8", 1), 64 * 3 * 64 + 2 * (64 * 8 + 8 * 64) + others);
  EXPECT_EQ(elements(", kda_f_lora_rank: 8", 1), 64 * 3 * 64 + 64 * 8 + 8 * 64 + 64 * 64 + others);
  // Norms, rates and the first of two narrow GEMMs are whole on every rank.
  EXPECT_EQ(elements(", kda_f_lora_rank: 8, kda_gate_lora_rank: 8", 2),
            64 * 3 * 32 + 2 * (64 * 8 + 8 * 32) + 64 + 4 * 3 * 32 + 64 * 4 + 2 + 32 + 16 + 32 * 64);
}

// T 128 tokens, 4 heads of 16, chunks of 64: two triangles, w and u, two states, a state and a chunk; backward three
// states twice.
TEST(KimiDelta, KernelsHaveTheFormulasFlops) {
  const KernelContext context = context_of(job_of());
  constexpr double kHeads = 128.0 * 4;
  constexpr double kState = 16.0 * 16;
  const auto forward = [&](const char* name) { return flops_of(LayerSection::kDeltaNet, context, name); };
  EXPECT_DOUBLE_EQ(forward("delta net in"), 2.0 * 128 * 64 * 3 * 64);
  EXPECT_DOUBLE_EQ(forward("delta net decay"), 2.0 * 128 * (64 * 8 + 8 * 64));
  EXPECT_DOUBLE_EQ(forward("delta net gate"), 2.0 * 128 * (64 * 8 + 8 * 64));
  EXPECT_DOUBLE_EQ(forward("delta net triangle"), kHeads * 2 * 64 * 2 * 16);
  EXPECT_DOUBLE_EQ(forward("delta net w and u"), kHeads * 2 * 64 * 32);
  EXPECT_DOUBLE_EQ(forward("delta net states"), kHeads * 2 * 2 * kState);
  EXPECT_DOUBLE_EQ(forward("delta net result"), kHeads * 2 * (kState + 64 * 16));
  const auto backward = [&](const char* name) { return flops_of(LayerSection::kDeltaNetBackward, context, name); };
  EXPECT_DOUBLE_EQ(backward("delta net states backward"), kHeads * 2 * 3 * kState);
  EXPECT_DOUBLE_EQ(backward("delta net values gradient"), kHeads * 2 * 64 * 2 * 16);
  EXPECT_DOUBLE_EQ(backward("delta net queries, keys and w gradient"),
                   kHeads * 2 * (3 * kState + 64 * (2 * 16 + 2 * 16 + 2 * 64)));
  EXPECT_DOUBLE_EQ(backward("delta net queries and keys gradient"), kHeads * 2 * 64 * 4 * 16);
}

TEST(KimiDelta, BackwardHasBothGradientsOfEachGemm) {
  const KernelContext context = context_of(job_of());
  double forward = 0.0;
  for (const char* name : {"delta net in", "delta net decay", "delta net gate", "delta net rate", "delta net out"}) {
    forward += flops_of(LayerSection::kDeltaNet, context, name);
  }
  const double gradients = flops_of(LayerSection::kDeltaNetBackward, context, "delta net out") +
                           flops_of(LayerSection::kDeltaNetDgrad, context) +
                           flops_of(LayerSection::kDeltaNetWgrad, context);
  EXPECT_DOUBLE_EQ(gradients, 2.0 * forward);
}

// Two bytes each: inputs of norm and GEMM; queries, keys, values; decays and gates before and after their copy, rates;
// normed queries and keys, values' copy; both results of 8 columns; two triangles and a rate of 4 heads; the result,
// its norm's and the last GEMM's input.
TEST(KimiDelta, ActivationsAreStoredOnceForEachOperator) {
  EXPECT_EQ(layer_activations(context_of(job_of()), {.mixer = Mixer::kDeltaNet, .mlp = MlpKind::kNone}),
            Bytes(128 * 2 * (2 * 64 + 3 * 64 + 2 * 2 * 64 + 4 + 2 * 64 + 64 + 2 * 8 + 4 * 129 + 3 * 64)));
}

// Of one microbatch in two layers: the results of 2 x 8 columns and the token's 64 are gathered; backward the former's
// gradients are scattered, those of 4 rates gathered.
TEST(KimiDelta, TensorParallelRanksGatherWhatEveryRankComputes) {
  const std::string split = "tp: 2, sequence_parallel: true";
  const auto bytes = [&](const std::string& more) {
    const JobText job(model(more) + kTraining + "parallel: {" + split + "}\n", 2);
    EXPECT_THAT(job.problems(), IsEmpty());
    return traffic(job.plan(), 0, "tp").count();
  };
  const std::string net =
      "model: {hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, "
      "seq_length: 128, num_layers: 3, experimental_attention_variant: gated_delta_net, "
      "full_attn_layers: [3], linear_num_key_heads: 4, linear_num_value_heads: 4, "
      "linear_key_head_dim: 16, linear_value_head_dim: 16}\n";
  const JobText gated(net + kTraining + "parallel: {" + split + "}\n", 2);
  const auto passes = [](std::int64_t columns) { return 2 * 128 * columns * 2; };
  const std::int64_t fused = bytes("") - traffic(gated.plan(), 0, "tp").count();
  const std::int64_t narrow = bytes(", kda_f_lora_rank: 8, kda_gate_lora_rank: 8") - bytes("");
  // Gradients of replicated weights are summed at the end: rates of 64 x 4; 2 x 64 x 8 of narrow GEMMs, in fp32.
  EXPECT_EQ(fused, passes(64 + 4) + 2 * 4 * 64 * 4);
  EXPECT_EQ(narrow, passes(2 * 16) + 2 * 4 * 2 * 64 * 8);
}

// One all-to-all for the first GEMM, decays, gates, rates and the result.
TEST(KimiDelta, ContextParallelRanksExchangeTheResultOfEachGemm) {
  const JobText job = job_of("cp: 2", 2);
  ASSERT_THAT(job.problems(), IsEmpty());
  const StepPlan plan = job.plan();
  EXPECT_EQ(std::ranges::count(task_names(plan.graph, plan.graph.programs[0]), "cp alltoall"), 2 * 2 * 5);
  EXPECT_EQ(check_task_graph(plan.graph), "");
  EXPECT_DOUBLE_EQ(plan.hardware_flops.count(), job_of().plan().hardware_flops.count());
}

TEST(KimiDelta, WhatDoesNotFitIsExplained) {
  const auto problems = [](const std::string& text) { return JobText(text + kTraining, 1).problems(); };
  EXPECT_THAT(problems(model(", linear_attention_freq: 2")),
              ElementsAre(HasSubstr("E460: model.full_attn_layers and model.linear_attention_freq both place layers")));
  const auto with = [](const std::string& old, const std::string& replaced) {
    std::string text = model("");
    return text.replace(text.find(old), old.size(), replaced);
  };
  EXPECT_THAT(problems(with("[3]", "[3, 2]")),
              ElementsAre(HasSubstr("layer 2 does not follow layer 3 among 3 layers")));
  EXPECT_THAT(problems(with("[3]", "[4]")), ElementsAre(HasSubstr("E460: model.full_attn_layers: layer 4")));
  EXPECT_THAT(problems(with("linear_num_key_heads: 4", "linear_num_key_heads: 2")),
              ElementsAre(HasSubstr("E460: model.linear_num_key_heads = 2 differs from the 4 heads of values")));
  EXPECT_THAT(problems(with("kimi_delta_attention", "gated_delta_net")), IsEmpty());
  std::string gated = model();
  gated.replace(gated.find("kimi_delta_attention"), 20, "gated_delta_net");
  EXPECT_THAT(problems(gated), ElementsAre(HasSubstr("W131: model.kda_f_lora_rank has no effect"),
                                           HasSubstr("W131: model.kda_gate_lora_rank has no effect")));
}

}  // namespace
}  // namespace ringwright::workload::kimi_delta_test
