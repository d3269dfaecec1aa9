#include "network_models/congestion/connection_rates.h"

#include <gtest/gtest.h>

namespace ringwright::network_models::connection_rates_test {
namespace {

ReactionPoint point_of(double rate) {
  ReactionPoint point = starting_at(10e9);
  point.rate = point.target = rate;
  return point;
}

double rate_after(double first, double second) {
  ConnectionRates rates{RateControl()};
  const std::uint32_t connection = rates.number({.from = RankId{0}, .to = RankId{1}});
  const TimePoint now = TimePoint() + Duration(1'000'000);
  rates.end(connection, point_of(first), now);
  rates.end(connection, point_of(second), now);
  return rates.begin(connection, 10e9, now).rate;
}

// Folded and unfolded runs have them in different orders.
TEST(ConnectionRates, OfMessagesThatEndTogetherTheSlowestCounts) {
  EXPECT_DOUBLE_EQ(rate_after(2e9, 5e9), 2e9);
  EXPECT_DOUBLE_EQ(rate_after(5e9, 2e9), 2e9);
}

TEST(ConnectionRates, OfMessagesThatEndOneAfterTheOtherTheLastCounts) {
  ConnectionRates rates{RateControl()};
  const std::uint32_t connection = rates.number({.from = RankId{0}, .to = RankId{1}});
  const TimePoint now = TimePoint() + Duration(1'000'000);
  rates.end(connection, point_of(2e9), now);
  rates.end(connection, point_of(5e9), now + Duration(1));
  EXPECT_DOUBLE_EQ(rates.begin(connection, 10e9, now + Duration(1)).rate, 5e9);
}

}  // namespace
}  // namespace ringwright::network_models::connection_rates_test
