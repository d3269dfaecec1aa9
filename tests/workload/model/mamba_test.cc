#include "workload/model/mamba.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::mamba_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// h 64, 8 heads of 8, 4 key-value heads, f 96, V 1000 (padded to 1024), s 32.
std::string model(const std::string& layers, const std::string& more = "") {
  return "model: {hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96, vocab_size: 1000,"
         " seq_length: 32, num_layers: " +
         layers + more + "}\n";
}
const std::string kMamba = ", mamba_num_heads: 8, mamba_head_dim: 16, mamba_num_groups: 2, mamba_state_dim: 8";
const std::string kTraining = "training: {global_batch: 8, micro_batch: 1}\n";

TEST(Hybrid, LayersOfOneHalfAreThoseOfATransformer) {
  const JobText whole(model("2") + kTraining + "parallel: {tp: 2, sequence_parallel: true}\n", 8);
  const JobText halves(
      model("4", ", hybrid_override_pattern: '*-*-'") + kTraining + "parallel: {tp: 2, sequence_parallel: true}\n", 8);
  ASSERT_THAT(halves.problems(), IsEmpty());
  EXPECT_EQ(parameters(halves.shape), parameters(whole.shape));
  const StepPlan one = whole.plan();
  const StepPlan other = halves.plan();
  EXPECT_EQ(one.model_flops.count(), other.model_flops.count());
  EXPECT_EQ(one.hardware_flops.count(), other.hardware_flops.count());
  EXPECT_EQ(one.communication, other.communication);
  EXPECT_EQ(memory_ledger(whole.inputs(), {}).front().total(), memory_ledger(halves.inputs(), {}).front().total());
}

// (2 x 128 + 2 x 2 x 8 + 8) columns in, 128 out; 5 x 160 of the convolution, 3 x 8, two norms of 64 and 128.
TEST(Hybrid, AMambaLayerHasItsTensors) {
  const JobText job(model("1", ", hybrid_override_pattern: M" + kMamba) + kTraining, 8);
  ASSERT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(count_elements(mamba_tensors(job.shape, 1)), 64 * 296 + 128 * 64 + 5 * 160 + 24 + 64 + 128);
  EXPECT_EQ(count_elements(mamba_tensors(job.shape, 2)), 64 * 148 + 64 * 64 + 5 * 80 + 12 + 64 + 64);
  EXPECT_EQ(parameters(job.shape), 2 * 1000 * 64 + 64 + count_elements(mamba_tensors(job.shape, 1)));
}

TEST(Hybrid, StagesOfAPipelineHoldTheirLetters) {
  const JobText job(model("4", ", hybrid_override_pattern: 'M-M*'" + kMamba) + kTraining + "parallel: {pp: 2}\n", 8);
  ASSERT_THAT(job.problems(), IsEmpty());
  const StepPlan plan = job.plan();
  const std::int64_t mamba = count_elements(mamba_tensors(job.shape, 1));
  const std::int64_t head = 1024 * 64;
  EXPECT_THAT(plan.stage_parameters,
              ElementsAre(head + mamba + count_elements(mlp_tensors(job.shape, 1)),
                          head + 64 + mamba + count_elements(attention_tensors(job.shape, 1))));
}

TEST(Hybrid, FullRecomputationRepeatsTheForwardPassOfALayer) {
  const auto hardware = [](const std::string& recompute) {
    return JobText(model("2", ", hybrid_override_pattern: MM" + kMamba) +
                       "training: {global_batch: 8, micro_batch: 1, recompute: " + recompute + "}\n",
                   8)
        .plan()
        .hardware_flops.count();
  };
  EXPECT_GT(hardware("full"), 1.15 * hardware("none"));
}

TEST(Hybrid, MultiTokenPredictionIsThatOfATransformer) {
  const std::string predicts = ", mtp_num_layers: 1";
  const JobText whole(model("2", predicts) + kTraining, 8);
  const JobText halves(
      model("4", ", hybrid_override_pattern: '*-*-', mtp_hybrid_override_pattern: '*-'" + predicts) + kTraining, 8);
  ASSERT_THAT(halves.problems(), IsEmpty());
  EXPECT_EQ(halves.plan().model_flops.count(), whole.plan().model_flops.count());
  EXPECT_EQ(halves.plan().hardware_flops.count(), whole.plan().hardware_flops.count());
  EXPECT_EQ(halves.plan().stage_parameters, whole.plan().stage_parameters);
  EXPECT_EQ(memory_ledger(whole.inputs(), {}).front().total(), memory_ledger(halves.inputs(), {}).front().total());
}

TEST(Hybrid, ImpossibleOrdersAreExplained) {
  const auto problems = [](const std::string& layers, const std::string& more, const std::string& rest = "") {
    return JobText(model(layers, more) + kTraining + rest, 8).problems();
  };
  EXPECT_THAT(problems("2", ", hybrid_override_pattern: MX"),
              ElementsAre(HasSubstr("E460: model.hybrid_override_pattern: 'X' (letter 2) is no kind of layer")));
  EXPECT_THAT(problems("3", ", hybrid_override_pattern: MM"),
              ElementsAre(HasSubstr("there are 2 letters for 3 layers")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: E"), ElementsAre(HasSubstr("E needs num_experts")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: M, num_experts: 4, moe_router_topk: 2"),
              ElementsAre(HasSubstr("num_experts needs a layer E")));
  EXPECT_THAT(
      problems("1", ", hybrid_override_pattern: '*', mtp_num_layers: 1"),
      ElementsAre(HasSubstr("E460: model.mtp_hybrid_override_pattern: mtp_num_layers of a hybrid model needs")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: '*', mtp_num_layers: 1, mtp_hybrid_override_pattern: '-*'"),
              ElementsAre(HasSubstr("a mixer (M, *), an MLP (-, E), or both in this order, not '-*'")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: '*', mtp_num_layers: 1, mtp_hybrid_override_pattern: '*E'"),
              ElementsAre(HasSubstr("E needs num_experts")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: '*', mtp_hybrid_override_pattern: '*-'"),
              ElementsAre(HasSubstr("W131: model.mtp_hybrid_override_pattern has no effect: mtp_num_layers is 0")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: M, mamba_num_heads: 9, mamba_num_groups: 2"),
              ElementsAre(HasSubstr("E460: model.mamba_num_groups = 2 does not divide the 9 heads")));
  EXPECT_THAT(problems("1", ", hybrid_override_pattern: M" + kMamba, "parallel: {tp: 4}\n"),
              ElementsAre(HasSubstr("E460: parallel.tp = 4 does not divide the 2 groups")));
}

}  // namespace
}  // namespace ringwright::workload::mamba_test
