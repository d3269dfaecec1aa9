#include "workload/checkpoint/saved_state.h"

#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::saved_state_test {
namespace {

SavedState state_of(const std::string& model, const std::string& parallel, std::int64_t ranks) {
  const JobText job("model: {preset: " + model + "}\ntraining: {global_batch: 256, micro_batch: 1, precision: bf16}\n" +
                        "parallel: {" + parallel + "}\n",
                    ranks);
  return saved_state(job.inputs());
}

// 14 bytes for each of 405.9e9 parameters: 5.68 TB. NVIDIA's recipes state 5.5 TB for this model, 13.6 bytes each.
TEST(SavedState, Llama3HasFourteenBytesPerParameter) {
  const SavedState state = state_of("llama3.1-405b", "tp: 8, pp: 14, zero: {stage: 1}", 8 * 14 * 8);
  EXPECT_NEAR(static_cast<double>(state.parameters), 405.9e9, 0.4e9);
  EXPECT_NEAR(static_cast<double>(state.total.count()) / static_cast<double>(state.parameters), 14.0, 1e-6);
  EXPECT_NEAR(static_cast<double>(state.total.count()), 5.5e12, 0.05 * 5.5e12);
}

// NVIDIA's recipes state 105 GB for 8B and 747 GB for 70B parameters of their models in mixed precision.
TEST(SavedState, PublishedSizesOfOtherModels) {
  EXPECT_NEAR(static_cast<double>(state_of("llama3-8b", "tp: 1", 8).total.count()), 105e9, 0.08 * 105e9);
  EXPECT_NEAR(static_cast<double>(state_of("llama3-70b", "tp: 4, pp: 4", 64).total.count()), 747e9, 0.33 * 747e9);
}

// The same parameters, whatever the layout.
TEST(SavedState, TheLayoutDoesNotChangeTheSize) {
  const Bytes flat = state_of("llama3-8b", "tp: 1", 8).total;
  EXPECT_EQ(state_of("llama3-8b", "tp: 2, pp: 2, zero: {stage: 1}", 16).total, flat);
  EXPECT_EQ(state_of("mixtral-8x7b", "tp: 1, ep: 8", 8).total, state_of("mixtral-8x7b", "tp: 2, ep: 4", 8).total);
}

TEST(SavedState, RanksShareTheWritingOfAStage) {
  const SavedState state = state_of("llama3-8b", "tp: 1", 8);
  EXPECT_EQ(state.of_largest_rank.count(), (state.total.count() + 7) / 8);
}

}  // namespace
}  // namespace ringwright::workload::saved_state_test
