#include "validation/fit/bounded_fit.h"

#include <cmath>

#include <gtest/gtest.h>

namespace ringwright::validation::bounded_fit_test {
namespace {

// A valley whose floor is at 3 and 0.2.
[[nodiscard]] double valley(std::span<const double> x) {
  const double a = std::log(x[0] / 3.0);
  const double b = std::log(x[1] / 0.2);
  return a * a + b * b + 0.5 * a * b;
}

TEST(BoundedFit, FindsTheFloorOfAValley) {
  const FitAnswer answer = fit(std::vector<FitConstant>{{0.1, 100.0, 1.0}, {0.01, 10.0, 1.0}}, valley);
  EXPECT_NEAR(answer.values[0], 3.0, 0.15);
  EXPECT_NEAR(answer.values[1], 0.2, 0.01);
  EXPECT_LT(answer.error, answer.error_at_start);
}

TEST(BoundedFit, StaysWithinItsBounds) {
  const FitAnswer answer = fit(std::vector<FitConstant>{{0.1, 2.0, 1.0}, {0.5, 10.0, 1.0}}, valley);
  EXPECT_NEAR(answer.values[0], 2.0, 0.2);
  EXPECT_DOUBLE_EQ(answer.values[1], 0.5);
}

TEST(BoundedFit, ReportsWhichConstantsDoNotMatter) {
  const FitError first_only = [](std::span<const double> x) { return std::abs(std::log(x[0] / 3.0)); };
  const FitAnswer answer = fit(std::vector<FitConstant>{{0.1, 100.0, 1.0}, {0.1, 100.0, 7.0}}, first_only);
  EXPECT_TRUE(answer.matters[0]);
  EXPECT_FALSE(answer.matters[1]);
  EXPECT_DOUBLE_EQ(answer.values[1], 7.0);
}

TEST(BoundedFit, GetsOverAJump) {
  // Beyond 2 another algorithm would be chosen: the error drops by a half there.
  const FitError jump = [](std::span<const double> x) { return std::abs(x[0] - 4.0) + (x[0] < 2.0 ? 0.5 : 0.0); };
  EXPECT_NEAR(fit(std::vector<FitConstant>{{0.5, 8.0, 1.0}}, jump).values[0], 4.0, 0.15);
}

TEST(BoundedFit, OneCoreFindsWhatAllFind) {
  const std::vector<FitConstant> constants = {{0.1, 10.0, 1.0}, {0.1, 10.0, 1.0}};
  const FitError error = [](std::span<const double> v) { return std::abs(v[0] * v[1] - 6.0) + std::abs(v[0] - 2.0); };
  const FitAnswer all = fit(constants, error);
  const FitAnswer one = fit(constants, error, {.cores = FitCores::kOne});
  EXPECT_EQ(one.values, all.values);
  EXPECT_EQ(one.rounds, all.rounds);
}

}  // namespace
}  // namespace ringwright::validation::bounded_fit_test
