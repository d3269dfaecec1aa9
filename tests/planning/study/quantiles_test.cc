#include "planning/study/quantiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::quantiles_test {
namespace {

using ::testing::ElementsAre;

TEST(Quantiles, AreAllValuesWhereTheyAreFew) {
  EXPECT_THAT(quantiles_of({3, 1, 2}), ElementsAre(1, 2, 3));
}

// Of 1 to 1,000 the percentile p by nearest rank is the (10 p)-th value, which is 10 p.
TEST(Quantiles, ArePercentilesOfManyValues) {
  std::vector<double> values;
  for (int i = 1000; i > 0; --i) values.push_back(i);
  const std::vector<double> quantiles = quantiles_of(values);
  ASSERT_EQ(quantiles.size(), kMostQuantiles);
  EXPECT_EQ(quantiles.front(), 1);
  double expected = 0.0;
  for (std::size_t percent = 1; percent < kMostQuantiles; ++percent) EXPECT_EQ(quantiles[percent], expected += 10.0);
}

TEST(Quantiles, AreJsonWithSixDigits) {
  EXPECT_EQ(json_numbers({1, 2.5, 1.0 / 3}), "[1, 2.5, 0.333333]");
  EXPECT_EQ(json_numbers({}), "[]");
}

}  // namespace
}  // namespace ringwright::planning::quantiles_test
