#include "validation/fit/error_statistics.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::validation::error_statistics_test {
namespace {

TEST(ErrorStatistics, CountsBothSidesOfTheMeasurement) {
  const std::vector<PredictedMeasured> pairs = {{.predicted = 1.1, .measured = 1.0},
                                                {.predicted = 1.6, .measured = 2.0}};
  const ErrorStatistics statistics = error_statistics(pairs);
  EXPECT_EQ(statistics.count, 2U);
  EXPECT_NEAR(statistics.mean_error, (0.1 - 0.2) / 2, 1e-12);
  EXPECT_NEAR(statistics.mean_abs, (0.1 + 0.2) / 2, 1e-12);
  EXPECT_NEAR(statistics.max_abs, 0.2, 1e-12);
}

TEST(ErrorStatistics, TwiceAndHalfWeighTheSameGeometrically) {
  const std::vector<PredictedMeasured> pairs = {{.predicted = 2.0, .measured = 1.0},
                                                {.predicted = 0.5, .measured = 1.0}};
  EXPECT_NEAR(error_statistics(pairs).geometric_mean_abs, 1.0, 1e-12);
}

TEST(ErrorStatistics, NothingIsZero) { EXPECT_EQ(error_statistics({}).count, 0U); }

TEST(Percentile, TakesTheNearestRank) {
  EXPECT_EQ(percentile({4.0, 1.0, 3.0, 2.0}, 0.5), 2.0);
  EXPECT_EQ(percentile({4.0, 1.0, 3.0, 2.0}, 0.95), 4.0);
  EXPECT_EQ(percentile({4.0, 1.0}, 0.0), 1.0);
}

TEST(KendallTau, RanksFromReverseToSame) {
  using Pairs = std::vector<PredictedMeasured>;
  EXPECT_NEAR(kendall_tau(Pairs{{1, 10}, {2, 20}, {3, 30}}), 1.0, 1e-12);
  EXPECT_NEAR(kendall_tau(Pairs{{3, 10}, {2, 20}, {1, 30}}), -1.0, 1e-12);
  // Of three pairs two agree, one does not.
  EXPECT_NEAR(kendall_tau(Pairs{{1, 10}, {3, 20}, {2, 30}}), 1.0 / 3.0, 1e-12);
  // One tie among the predictions: 2 of sqrt(2 * 3).
  EXPECT_NEAR(kendall_tau(Pairs{{1, 10}, {2, 20}, {2, 30}}), 2.0 / std::sqrt(6.0), 1e-12);
  EXPECT_EQ(kendall_tau(Pairs{{1, 10}}), 0.0);
}

}  // namespace
}  // namespace ringwright::validation::error_statistics_test
