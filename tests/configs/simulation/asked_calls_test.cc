// Overheads and times of formulas that steps with the same groups take over.
#include "configs/simulation/asked_calls.h"

#include <gtest/gtest.h>

#include "core/plan/collective_call.h"

namespace ringwright::configs::asked_calls_test {
namespace {

using namespace ringwright::literals;

// A nanosecond for each byte; counts how often it is asked.
class CountedFormula final : public CollectiveTime {
 public:
  [[nodiscard]] Duration time(const CollectiveCall& call) const override {
    ++asked;
    return call.bytes.count() * 1_ns;
  }
  [[nodiscard]] Bytes sent(const CollectiveCall& call) const override { return call.bytes * 2; }
  mutable int asked = 0;
};

CollectiveCall call_of(const GroupLayout& layout, Bytes bytes) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0)};
}

TEST(AskedFormula, IsAskedOnceForEachCall) {
  const GroupLayout pair = make_group_layout({0, 1}, {0, 0});
  const GroupLayout other = make_group_layout({0, 0}, {0, 1});
  const CountedFormula formula;
  AskedCalls asked;
  for (int step = 0; step < 3; ++step) {
    const AskedFormula times(formula, asked);  // of each step
    EXPECT_EQ(times.time(call_of(pair, 5_B)), 5_ns);
    EXPECT_EQ(times.time(call_of(pair, 7_B)), 7_ns);
    EXPECT_EQ(times.time(call_of(other, 5_B)), 5_ns);
    EXPECT_EQ(times.sent(call_of(pair, 5_B)), 10_B);
  }
  EXPECT_EQ(formula.asked, 3);
}

// Of other groups at the same address.
TEST(AskedFormula, IsAskedAgainAfterCallsAreForgotten) {
  const GroupLayout pair = make_group_layout({0, 1}, {0, 0});
  const CountedFormula formula;
  AskedCalls asked;
  const AskedFormula times(formula, asked);
  EXPECT_EQ(times.time(call_of(pair, 5_B)), 5_ns);
  asked.clear();
  EXPECT_EQ(times.time(call_of(pair, 5_B)), 5_ns);
  EXPECT_EQ(formula.asked, 2);
}

// An overhead that nobody has asked for is not known because its formula is.
TEST(AskedCalls, KnowOverheadsApartFromFormulas) {
  const GroupLayout pair = make_group_layout({0, 1}, {0, 0});
  AskedCalls asked;
  EXPECT_TRUE(asked.ask_formula(call_of(pair, 5_B)).second);
  EXPECT_FALSE(asked.know(call_of(pair, 5_B)));
  EXPECT_TRUE(asked.ask(call_of(pair, 5_B)).second);
  EXPECT_TRUE(asked.know(call_of(pair, 5_B)));
}

}  // namespace
}  // namespace ringwright::configs::asked_calls_test
