#include "workload/layout/gradient_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::gradient_turns_test {
namespace {

using testing::ElementsAre;

constexpr Slot backward(int microbatch, int chunk) {
  return {.pass = Pass::kBackward, .microbatch = microbatch, .chunk = chunk};
}

// Two microbatches through chunk 1, two through chunk 0, and so on, with a forward pass in between.
const std::vector<Slot> kInterleaved = {backward(0, 1), {}, backward(1, 1), backward(0, 0), backward(1, 0),
                                        backward(2, 1), backward(3, 1), backward(2, 0), backward(3, 0)};

TEST(GradientTurns, OnceAStepAfterTheLastPassOfAChunk) {
  EXPECT_THAT(reducing_slots(kInterleaved, GradientReduction::kLastMicrobatch),
              ElementsAre(false, false, false, false, false, false, true, false, true));
}

TEST(GradientTurns, ForAGroupWhenTheNextPassIsOfAnotherChunk) {
  EXPECT_THAT(reducing_slots(kInterleaved, GradientReduction::kMicrobatchGroup),
              ElementsAre(false, false, true, false, true, false, true, false, true));
}

TEST(GradientTurns, InEveryMicrobatchAfterEveryPassThatCompletesGradients) {
  EXPECT_THAT(reducing_slots(kInterleaved, GradientReduction::kMicrobatch),
              ElementsAre(true, false, true, true, true, true, true, true, true));
}

// Weight gradients are a separate pass.
TEST(GradientTurns, PassesForInputsCompleteNone) {
  const std::vector<Slot> split = {{.pass = Pass::kInputGradient}, {.pass = Pass::kWeightGradient}};
  EXPECT_THAT(reducing_slots(split, GradientReduction::kMicrobatch), ElementsAre(false, true));
}

}  // namespace
}  // namespace ringwright::workload::gradient_turns_test
