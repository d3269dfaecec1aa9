#include "workload/layout/stage_balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::stage_balance_test {
namespace {

// A microsecond for every kernel.
class OneEach final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel&) const override { return Duration(1'000'000); }
};

LayerCosts costs(const std::string& model, const std::string& training = "") {
  const JobText job("model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, vocab_size: 1000, seq_length: 32" +
                        model + "}\ntraining: {global_batch: 8" + training + "}\n",
                    1);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return layer_costs(job.shape, job.training, job.parallel, OneEach());
}

TEST(StageBalance, EqualLayersCostTheSame) {
  const LayerCosts equal = costs("");
  ASSERT_EQ(equal.layers.size(), 4U);
  for (const double layer : equal.layers) EXPECT_DOUBLE_EQ(layer, equal.layers.front());
  EXPECT_GT(equal.first, 0.0);
  EXPECT_GT(equal.last, equal.first);  // logits and cross-entropy
}

TEST(StageBalance, LayersWithExpertsCostMore) {
  const LayerCosts mixed = costs(", num_experts: 4, moe_router_topk: 2, first_k_dense_replace: 2");
  EXPECT_DOUBLE_EQ(mixed.layers[0], mixed.layers[1]);
  EXPECT_GT(mixed.layers[2], mixed.layers[1]);
}

TEST(StageBalance, RecomputationCostsTheForwardPassAgain) {
  EXPECT_GT(costs("", ", recompute: full").layers[0], costs("").layers[0]);
}

// With context parallelism the recomputed sections are separate: the kernels are the same but for the exchanges', of
// which gathers of consecutive parts have none.
TEST(StageBalance, RecomputedOperatorsCostTheSameOnContextParallelRanks) {
  const auto recomputed = [](const std::string& recompute, int cp) {
    const auto layer = [cp](const std::string& training) {
      const JobText job(
          "model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, vocab_size: 1000, seq_length: 32}\n"
          "training: {global_batch: 8" +
              training + "}\nparallel: {cp: " + std::to_string(cp) +
              ", cp_comm_type: all_gather, cp_balanced: false}\n",
          cp);
      return layer_costs(job.shape, job.training, job.parallel, OneEach()).layers.front();
    };
    return layer(", recompute: " + recompute) - layer("");
  };
  for (const std::string recompute : {"selective", "selective-ops", "except-saved"}) {
    EXPECT_GT(recomputed(recompute, 1), 0.0) << recompute;
    EXPECT_NEAR(recomputed(recompute, 2), recomputed(recompute, 1), 1e-12) << recompute;
  }
}

TEST(StageBalance, ALayersTwoPassesAreItsCost) {
  const JobText job(
      "model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, vocab_size: 1000, seq_length: 32}\n"
      "training: {global_batch: 8}\n",
      1);
  const LayerPasses passes = dense_layer_passes(make_kernel_context(job.shape, job.training, job.parallel), OneEach());
  EXPECT_NEAR(passes.forward.device + passes.backward.device, costs("").layers.front(), 1e-12);
  EXPECT_GT(passes.backward.device, passes.forward.device);
  EXPECT_DOUBLE_EQ(passes.forward.host, 0.0);  // this model ignores the host
}

}  // namespace
}  // namespace ringwright::workload::stage_balance_test
