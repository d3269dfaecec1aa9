#include "network_models/flow/flow_table.h"

#include <gtest/gtest.h>

namespace ringwright::network_models::flow_table_test {
namespace {

using namespace ringwright::literals;

TEST(FlowTable, SlotsAreReused) {
  FlowTable flows;
  const FlowSlot first = flows.take(1);
  const FlowSlot second = flows.take(1);
  EXPECT_NE(first, second);
  flows.give_back(first);
  EXPECT_EQ(flows.take(1), first);
  EXPECT_EQ(flows.size(), 2U);
}

TEST(FlowTable, EachRepeatTakesANumber) {
  FlowTable flows;
  EXPECT_EQ(flows[flows.take(3)].order, 0U);
  EXPECT_EQ(flows[flows.take(1)].order, 3U);
  EXPECT_EQ(flows.started(), 4U);
}

TEST(FlowTable, CountsTheMostFlowsInFlight) {
  FlowTable flows;
  const FlowSlot first = flows.take(1);
  const FlowSlot second = flows.take(1);
  flows.give_back(first);
  flows.give_back(second);
  (void)flows.take(1);
  EXPECT_EQ(flows.most_in_flight(), 2U);
}

// A row that serves several flows is none, and these may have no rows.
TEST(FlowTable, CountsFlowsAndNotRows) {
  FlowTable flows;
  flows[flows.take(1)].lone = true;
  flows.give_back(0);
  EXPECT_FALSE(flows[flows.take_for_several()].lone);
  EXPECT_EQ(flows.most_in_flight(), 1U);
  flows.set_out();
  flows.set_out();
  flows.rest();
  flows.set_out();
  EXPECT_EQ(flows.most_in_flight(), 2U);
}

TEST(FlowTable, ARowThatRestsIsNotInFlightAndKeepsItsPath) {
  FlowTable flows;
  const FlowSlot first = flows.take(1);
  flows[first].route = 5;
  flows.rest();
  const FlowSlot second = flows.take(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(flows.most_in_flight(), 1U);
  flows.take_resting(first, 3);
  EXPECT_EQ(flows.most_in_flight(), 2U);
  EXPECT_EQ(flows[first].order, 3U);
  EXPECT_EQ(flows[first].repeats, 3U);
  EXPECT_EQ(flows[first].route, 5U);
  flows.rest();
  flows.free(first);
  EXPECT_EQ(flows[flows.take(1)].route, 0U);
}

TEST(FlowRow, RemainsWhatItsRateHasLeft) {
  const FlowRow row{.bytes = 100.0, .remaining = 60.0, .rate = 1e6, .settled = TimePoint(5_us)};
  EXPECT_DOUBLE_EQ(row.remaining_at(TimePoint(15_us)), 50.0);  // 10 us at 1 byte a us
  EXPECT_DOUBLE_EQ(row.remaining_at(TimePoint(500_us)), 0.0);
}

}  // namespace
}  // namespace ringwright::network_models::flow_table_test
