// Sharded parameters with expert parallelism as whole scenarios.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::sharded_experts_test {
namespace {

std::string job(const std::string& parallel) {
  return "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, ffn_hidden_size: 512, vocab_size: 1000, "
         "seq_length: 128, num_experts: 32, moe_router_topk: 2, moe_ffn_hidden_size: 512}\n"
         "training: {global_batch: 64}\nparallel: {" +
         parallel +
         "}\ncluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: "
         "{ports: "
         "4}, spine: {ports: 16}}}\n";
}

TEST(ShardedExperts, AreFoldedExactly) {
  for (const char* parallel : {"ep: 8, dp: auto, zero: {stage: 3}", "ep: 2, dp: auto, fsdp: {}",
                               "ep: 32, dp: auto, zero: {stage: 3, stage3_max_reuse_distance: 0}",
                               "ep: 4, pp: 2, dp: auto, zero: {stage: 3, offload_optimizer: {device: cpu}}"}) {
    const Scenario scenario = load(job(parallel));
    const Played folded = play(scenario, FoldMode::kFold);
    const Played whole = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
    EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << parallel;
    EXPECT_EQ(folded.finished_at, whole.finished_at) << parallel;
  }
}

// The more ranks share the experts, the less of them a GPU stores.
TEST(ShardedExperts, LeaveMemoryFree) {
  const auto weights = [](const std::string& parallel) {
    const MemoryRow row = memory_rows(load(job(parallel))).front();
    return row.items.front().size;
  };
  EXPECT_LT(weights("ep: 8, dp: auto, zero: {stage: 3}"), weights("ep: 8, dp: auto, zero: {stage: 1}"));
}

}  // namespace
}  // namespace ringwright::configs::sharded_experts_test
