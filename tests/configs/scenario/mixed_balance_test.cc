#include "configs/scenario/mixed_balance.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::mixed_balance_test {
namespace {

// Of 4 heads none would be left for each of 8 ranks, whose kernels have no time then.
TEST(BalanceWork, LeavesRefusedSizesAlone) {
  for (const std::string rule : {"balanced", "balanced-memory"}) {
    const std::string refusal = refusal_of(
        "model: {num_layers: 4, hidden_size: 512, num_attention_heads: 4, ffn_hidden_size: 2048, vocab_size: 32000, "
        "seq_length: 128}\ntraining: {global_batch: 12}\nparallel: {tp: 8, pp: 3, stage_layers: " +
        rule + "}\ncluster: {nodes: 3, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n");
    EXPECT_THAT(refusal, testing::HasSubstr("E134")) << rule;
  }
}

}  // namespace
}  // namespace ringwright::configs::mixed_balance_test
