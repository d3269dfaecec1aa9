#include "workload/pipeline/schedule_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::schedule_check_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "F0 B0 W0", "F1.1": each word one pass.
std::vector<Slot> slots_of(std::string_view text) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < text.size();) {
    Slot slot;
    slot.pass = text[i] == 'F' ? Pass::kForward : text[i] == 'W' ? Pass::kWeightGradient : Pass::kBackward;
    if (text[i] == 'I') slot.pass = Pass::kInputGradient;
    slot.microbatch = text[i + 1] - '0';
    i += 2;
    if (i < text.size() && text[i] == '.') {
      slot.chunk = text[i + 1] - '0';
      i += 2;
    }
    slots.push_back(slot);
    ++i;
  }
  return slots;
}

std::string problem(const std::vector<std::string>& stages, int microbatches = 2, PipelineShape shape = {}) {
  PipelineOrder order;
  for (const std::string& stage : stages) order.push_back(slots_of(stage));
  shape.stages = static_cast<int>(stages.size());
  return check_order(order, shape, microbatches).problem;
}

TEST(ScheduleCheck, AnyLegalOrderPasses) {
  EXPECT_THAT(problem({"F0 F1 B0 B1", "F0 B0 F1 B1"}), IsEmpty());
  EXPECT_THAT(problem({"F0 F1 B0 I1 W1", "F0 I0 F1 W0 B1"}), IsEmpty());
}

TEST(ScheduleCheck, EveryPassExistsOnce) {
  EXPECT_EQ(problem({"F0 F1 B0 B1 F0", "F0 B0 F1 B1"}), "stage 0: F0 occurs twice");
  EXPECT_EQ(problem({"F0 F1 B0 I0 B1", "F0 B0 F1 B1"}), "stage 0: B0 occurs twice");
  EXPECT_EQ(problem({"F0 F1 B0 B1", "F0 B0 F1"}), "stage 1: B1 is missing");
  EXPECT_EQ(problem({"F0 F1 B0 B1", "F0 B0"}), "stage 1: F1 is missing");
  EXPECT_EQ(problem({"F0 F1 B0 B1", "F0 I0 F1 B1"}), "stage 1: W0 is missing");
  EXPECT_EQ(problem({"F0 F1 B0 B2", "F0 B0 F1 B1"}), "stage 0: B2 does not exist");
  EXPECT_EQ(problem({"F0 F1.1 B0 B1", "F0 B0 F1 B1"}), "stage 0: F1 does not exist");
}

TEST(ScheduleCheck, PassesOfAMicrobatchComeInOrder) {
  EXPECT_EQ(problem({"F0 B1 F1 B0", "F0 B0 F1 B1"}), "stage 0: B1 comes before F1");
  EXPECT_EQ(problem({"F0 F1 W0 I0 B1", "F0 B0 F1 B1"}), "stage 0: W0 comes before B0");
  EXPECT_EQ(problem({"F0 F1 B0 W0 B1", "F0 B0 F1 B1"}),
            "stage 0: W0 comes after a backward pass that already includes it");
}

TEST(ScheduleCheck, MessagesArriveInTheOrderInWhichTheyAreSent) {
  EXPECT_EQ(problem({"F0 F1 B0 B1", "F1 F0 B0 B1"}),
            "stage 1: F0 receives a message of stage 0 that was sent before the one received last (F1)");
}

TEST(ScheduleCheck, DeadlocksReportWhoWaitsForWhom) {
  // Stage 0 wants the gradient of microbatch 0 before it sends microbatch 1, which stage 1 wants first.
  EXPECT_EQ(problem({"F0 B0 F1 B1", "F0 F1 B0 B1"}),
            "stage 0: B0 waits forever: stage 0 in B0 for stage 1, stage 1 in F1 for stage 0");
}

TEST(ScheduleCheck, ItCountsWhatIsHeldUntilTheWeightsAreDone) {
  PipelineOrder order = {slots_of("F0 I0 F1 W0 I1 W1")};
  EXPECT_THAT(check_order(order, {}, 2).held_at_peak, ElementsAre(2));
}

TEST(ScheduleCheck, EachMicrobatchGoesThroughOneOfTwoCopies) {
  const PipelineShape both_ways{.placement = Placement::kBidirectional, .stages = 2, .chunks = 2};
  EXPECT_THAT(problem({"F0.0 F1.1 B1.1 B0.0", "F1.1 F0.0 B0.0 B1.1"}, 2, both_ways), IsEmpty());
  EXPECT_EQ(problem({"F0.0 B0.0", "F1.1 F0.0 B0.0 B1.1"}, 2, both_ways), "stage 0: F1.1 is missing");
}

TEST(ScheduleCheck, SlotsNameTheirChunkWhereThereAreSeveral) {
  EXPECT_EQ(name_of({Pass::kInputGradient, 3, 0}, 1), "B3");
  EXPECT_EQ(name_of({Pass::kWeightGradient, 3, 1}, 2), "W3.1");
}

}  // namespace
}  // namespace ringwright::workload::schedule_check_test
