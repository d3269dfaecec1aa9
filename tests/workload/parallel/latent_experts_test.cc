// Experts in a latent space (LatentMoE), and multi-token prediction by one repeated layer.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::latent_experts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two layers of eight experts of width 48, two per token, and a shared one of 32; h 64, 32 tokens in a sequence.
constexpr const char* kModel =
    "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96,"
    " vocab_size: 1000, seq_length: 32, num_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 48,"
    " moe_shared_expert_intermediate_size: 32";
constexpr std::int64_t kTokens = 32;

JobText job_of(const std::string& model, const std::string& parallel, std::int64_t ranks,
               const std::string& training = "") {
  return JobText(kModel + model + "}\ntraining: {global_batch: 8" + training + "}\nparallel: {" + parallel + "}\n",
                 ranks);
}
const std::string kLatent = ", moe_latent_size: 16";

// Up and down of l 16 instead of h 64, a projection to l and one back; SwiGLU has two matrices up.
TEST(LatentExperts, HaveMatricesOfTheLatentSpaceAndTwoProjections) {
  const JobText job = job_of(kLatent, "ep: 4", 4);
  ASSERT_THAT(job.problems(), IsEmpty());
  const std::int64_t rest = 64 + 64 * 8 + 3 * 64 * 32;  // norm, router, shared expert
  EXPECT_EQ(count_elements(expert_tensors(job.shape, {})), rest + 2 * 64 * 16 + 8 * 3 * 16 * 48);
  // Of eight experts on four ranks two each; the projections are whole on every rank.
  EXPECT_EQ(count_elements(expert_tensors(job.shape, {.ep = 4})), rest + 2 * 64 * 16 + 2 * 3 * 16 * 48);
  const auto tensors = expert_tensors(job.shape, {.tp = 2, .ep = 4});
  const auto down = std::ranges::find(tensors, "expert latent down", &ParameterTensor::name);
  ASSERT_NE(down, tensors.end());
  EXPECT_EQ(down->elements, 64 * 16);
  EXPECT_TRUE(down->replicated);
  EXPECT_FALSE(down->expert);
}

// Megatron-LM, training.py, moe_layer_flops: 4bs l K f x 3/2 for a gated MLP, 4bs h l for the projections, 4bs h f x
// 3/2 for the shared expert; the router's 2bs h E, which it leaves out, is counted here.
TEST(LatentExperts, NeedTheFlopsThatMegatronCounts) {
  for (const std::string activation : {"swiglu", "gelu"}) {
    const JobText job = job_of(kLatent + ", activation: " + activation, "ep: 4", 4);
    const double gated = activation == "swiglu" ? 1.5 : 1.0;
    const double experts = 4.0 * kTokens * 16 * 48 * 2 * gated + 4.0 * kTokens * 64 * 16 +
                           4.0 * kTokens * 64 * 32 * gated + 2.0 * kTokens * 64 * 8;
    ModelShape dense = job.shape;
    dense.experts.reset();
    dense.ffn = 0;
    const auto flops = [](const ModelShape& shape) {
      return layer_forward_flops(shape, 1, AttentionCount::kCausal).count();
    };
    EXPECT_DOUBLE_EQ(flops(job.shape) - flops(dense), experts) << activation;
  }
}

TEST(LatentExperts, LayersHaveExactlyTheFormulasFlops) {
  const auto flops_of = [](const std::vector<LayerSection>& sections, const KernelContext& context) {
    Flops total;
    for (const LayerSection section : sections) {
      for (const Kernel& kernel : kernels_of(section, context)) total += kernel.flops;
    }
    return total.count();
  };
  using enum LayerSection;
  for (const std::string parallel :
       {"ep: 8, etp: 1", "tp: 4, sequence_parallel: true, ep: 2, etp: 4",
        "ep: 8, etp: 1, moe_token_dispatcher_type: allgather", "ep: 8, etp: 1, moe_token_dispatcher_type: flex"}) {
    const JobText job(
        "model: {preset: nemotron-3-super-120b-a12b}\ntraining: {global_batch: 64}\nparallel: {" + parallel + "}\n", 8);
    ASSERT_THAT(job.problems(), IsEmpty()) << parallel;
    const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
    const double formula = layer_forward_flops(job.shape, 1, AttentionCount::kFull, job.shape.layers - 1).count() /
                           static_cast<double>(job.parallel.tp);
    EXPECT_NEAR(flops_of({kRouter, kPermute, kExperts, kUnpermute, kSharedExperts}, context) / formula, 1.0, 1e-12)
        << parallel;
    EXPECT_NEAR(flops_of({kUnpermuteBackward, kExpertsBackward, kExpertsWgrad, kSharedExpertsBackward, kPermuteBackward,
                          kRouterBackward},
                         context) /
                    (2.0 * formula),
                1.0, 1e-12)
        << parallel;
  }
}

// Of h 64 only l 16 values of a token travel, a quarter, by every dispatcher.
TEST(LatentExperts, ExchangeNarrowTokens) {
  for (const std::string parallel :
       {"ep: 4", "ep: 4, moe_token_dispatcher_type: allgather", "ep: 4, moe_fp8_dispatch: true",
        "tp: 2, sequence_parallel: true, ep: 2, etp: 2"}) {
    const JobText wide = job_of("", parallel, 4);
    const JobText narrow = job_of(kLatent, parallel, 4);
    ASSERT_THAT(narrow.problems(), IsEmpty()) << parallel;
    for (const std::string dimension : {"ep", "etp"}) {
      const Bytes all = traffic(wide.plan(), 0, dimension);
      if (all == Bytes(-1)) continue;
      EXPECT_EQ(traffic(narrow.plan(), 0, dimension), all / 4) << parallel << " " << dimension;
    }
  }
}

// In bf16 a token's input of its two experts, 2 x 2 bytes for each of h - l 48 values, less; the input of the
// projection back, 2 bytes for each of l 16 values, more. In fp8 one byte of input, and a cast of h 64 more.
TEST(LatentExperts, StoreNarrowTokensForTheBackwardPass) {
  const auto kept = [](const std::string& model, const std::string& training) {
    const JobText job = job_of(model, "ep: 4", 4, training);
    EXPECT_THAT(job.problems(), IsEmpty());
    return memory_ledger(job.inputs(), {}).front().of("layer activations").count();
  };
  EXPECT_EQ(kept(kLatent, "") - kept("", ""), 2 * kTokens * (2 * 16 - 2 * 2 * 48));
  const std::string fp8 = ", fp8_recipe: delayed";
  EXPECT_EQ(kept(kLatent, fp8) - kept("", fp8), 2 * kTokens * (16 + 64 - 2 * 48));
}

TEST(LatentExperts, DoNotOverlapSharedExperts) {
  EXPECT_THAT(job_of(kLatent, "ep: 4, moe_shared_expert_overlap: true", 4).problems(),
              ElementsAre(HasSubstr("E463: parallel.moe_shared_expert_overlap: shared experts are not overlapped")));
  EXPECT_THAT(job_of("", "ep: 4, moe_shared_expert_overlap: true", 4).problems(), IsEmpty());
}

TEST(LatentExperts, GraphsOfManyLayoutsAreSoundAndRunToTheirEnd) {
  for (const char* parallel :
       {"ep: 4, overlap_moe_expert_parallel_comm: true, delay_wgrad_compute: true",
        "tp: 2, sequence_parallel: true, ep: 2, etp: 2, moe_token_dispatcher_type: allgather",
        "pp: 2, ep: 2, zero: {stage: 1, overlap_grad_reduce: true, bucket: 16KiB, overlap_param_gather: true}",
        "ep: 4, fsdp: {sharding_strategy: full_shard}"}) {
    const JobText job = job_of(kLatent + ", mtp_num_layers: 2, mtp_use_repeated_layer: true", parallel, 4);
    ASSERT_THAT(job.problems(), IsEmpty()) << parallel;
    const StepPlan plan = job.plan();
    EXPECT_EQ(check_task_graph(plan.graph), "") << parallel;
    EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << parallel;
  }
}

// A repeated layer computes as two do, and has the weights, gradients and optimizer state of one.
TEST(RepeatedPredictor, HasItsWeightsOnce) {
  const auto plan_of = [](const std::string& model) { return job_of(model, "ep: 4", 4).plan(); };
  const StepPlan one = plan_of(", mtp_num_layers: 1");
  const StepPlan two = plan_of(", mtp_num_layers: 2");
  const StepPlan repeated = plan_of(", mtp_num_layers: 2, mtp_use_repeated_layer: true");
  EXPECT_EQ(repeated.stage_parameters, one.stage_parameters);
  EXPECT_EQ(repeated.model_flops.count(), two.model_flops.count());
  EXPECT_EQ(repeated.hardware_flops.count(), two.hardware_flops.count());
  EXPECT_EQ(traffic(repeated, 0, "dp"), traffic(one, 0, "dp"));
  EXPECT_EQ(traffic(repeated, 0, "ep"), traffic(two, 0, "ep"));
  const auto ledger = [](const std::string& model) {
    return memory_ledger(job_of(model, "ep: 4", 4).inputs(), {}).front();
  };
  const auto once = ledger(", mtp_num_layers: 1");
  const auto again = ledger(", mtp_num_layers: 2, mtp_use_repeated_layer: true");
  for (const char* part : {"weights", "gradients", "optimizer"}) EXPECT_EQ(again.of(part), once.of(part)) << part;
  EXPECT_GT(again.of("layer activations"), once.of("layer activations"));
  EXPECT_THAT(job_of(", mtp_num_layers: 1, mtp_use_repeated_layer: true", "ep: 4", 4).problems(),
              ElementsAre(HasSubstr("W131: model.mtp_use_repeated_layer has no effect: mtp_num_layers is 1")));
}

// Shards of the checkpoint of Nemotron 3 Super: 123,611,012,096 weights, 2,942,324,736 of them of the predictor.
TEST(RepeatedPredictor, OfNemotron3SuperHasThePublishedParameters) {
  const JobText job("model: {preset: nemotron-3-super-120b-a12b}\ntraining: {global_batch: 1}\nparallel: {}\n", 1);
  ASSERT_THAT(job.problems(), IsEmpty());
  const std::int64_t predictor = count_elements(predictor_tensors(job.shape, 1)) +
                                 count_elements(attention_tensors(job.shape, 1)) +
                                 count_elements(expert_tensors(job.shape, {}));
  EXPECT_EQ(predictor, 2'942'324'736);
  EXPECT_EQ(parameters(job.shape) + predictor, 123'611'012'096);
}

}  // namespace
}  // namespace ringwright::workload::latent_experts_test
