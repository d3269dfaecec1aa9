#include "planning/operation/statistics.h"

#include <gtest/gtest.h>

namespace ringwright::planning::statistics_test {
namespace {

// Ranks of the 95 % interval of the median: textbook values for n = 10 (2, 9: 97.9 %), 20 (6, 15: 95.9 %) and 100
// (40, 61: 96.5 %).
TEST(Statistics, RanksOfTheMedianAreThoseOfTextbooks) {
  EXPECT_EQ(median_ranks(10).low, 2);
  EXPECT_EQ(median_ranks(10).high, 9);
  EXPECT_NEAR(median_ranks(10).confidence, 0.979, 0.0005);
  EXPECT_EQ(median_ranks(20).low, 6);
  EXPECT_EQ(median_ranks(100).low, 40);
  EXPECT_EQ(median_ranks(100).high, 61);
}

TEST(Statistics, FewValuesGiveTheirRange) {
  const Summary three = summarise_values({3.0, 1.0, 2.0});
  EXPECT_DOUBLE_EQ(three.low, 1.0);
  EXPECT_DOUBLE_EQ(three.high, 3.0);
  EXPECT_DOUBLE_EQ(three.median, 2.0);
  const Summary one = summarise_values({5.0});
  EXPECT_DOUBLE_EQ(one.low, 5.0);
  EXPECT_DOUBLE_EQ(one.error, 0.0);
}

// Mean 2.5, variance 5 / 3, standard error sqrt(5 / 12).
TEST(Statistics, MeanHasItsStandardError) {
  const Summary four = summarise_values({1.0, 2.0, 3.0, 4.0});
  EXPECT_DOUBLE_EQ(four.mean, 2.5);
  EXPECT_DOUBLE_EQ(four.median, 2.5);
  EXPECT_NEAR(four.error, 0.6455, 0.00005);
}

}  // namespace
}  // namespace ringwright::planning::statistics_test
