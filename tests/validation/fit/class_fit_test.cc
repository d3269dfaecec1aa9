#include "validation/fit/class_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::validation::class_fit_test {
namespace {

// Times of messages: a latency (0) and bytes at a rate (1), in microseconds and bytes a microsecond.
[[nodiscard]] double message_time(std::span<const double> x, double bytes) {
  return x[0] + bytes / x[1];
}

[[nodiscard]] ClassResiduals residuals_of(const std::vector<double>& sizes, std::vector<double> truth) {
  return [sizes, truth](std::span<const double> x) {
    std::vector<ClassResidual> rows;
    for (const double size : sizes)
      rows.push_back({.error = std::log(message_time(x, size) / message_time(truth, size))});
    return rows;
  };
}

constexpr ClassConstant kLatency{.low = 0.1, .high = 100.0, .start = 2.0, .spread = 1.0};
constexpr ClassConstant kRate{.low = 100.0, .high = 1e6, .start = 5000.0, .spread = 1.0};
const std::vector<double> kSizes = {8, 64, 1024, 8192, 65536, 1 << 20, 1 << 24, 1 << 26};

TEST(ClassFit, FindsWhatMadeTheMeasurements) {
  const ClassFitAnswer answer =
      fit_to_class(std::vector<ClassConstant>{kLatency, kRate}, residuals_of(kSizes, {5.0, 20'000.0}));
  // The prior of the class has a small effect: with this many rows, well below a tenth.
  EXPECT_NEAR(answer.values[0], 5.0, 0.2);
  EXPECT_NEAR(answer.values[1], 20'000.0, 800.0);
  EXPECT_TRUE(answer.determined[0] && answer.determined[1]);
  EXPECT_LT(answer.error, 0.05 * answer.error_at_start);
}

TEST(ClassFit, ConstantsThatNoRowDeterminesStayAtTheirClassValue) {
  // All messages are so small that the rate does not show.
  const ClassFitAnswer answer =
      fit_to_class(std::vector<ClassConstant>{kLatency, kRate}, residuals_of({8, 16, 32}, {5.0, 20'000.0}));
  EXPECT_NEAR(answer.values[0], 5.0, 0.4);
  EXPECT_FALSE(answer.determined[1]);
  EXPECT_DOUBLE_EQ(answer.values[1], 5000.0);
  EXPECT_GT(answer.left_over[1], 0.95);
}

// Three latencies that small messages only show together, of 2 us each in the class and 12 measured: none of them is
// determined while the others may move (82 % of each spread are left, 71 % where one is known), but their sum is.
TEST(ClassFit, ASumIsMetThoughNoneOfItsTermsIsDetermined) {
  const ClassResiduals together = [](std::span<const double> x) {
    std::vector<ClassResidual> rows(8);
    for (ClassResidual& row : rows) row.error = std::log((x[0] + x[1] + x[2]) / 12.0);
    return rows;
  };
  const ClassFitAnswer answer = fit_to_class(std::vector<ClassConstant>{kLatency, kLatency, kLatency}, together);
  EXPECT_EQ(std::ranges::count(answer.determined, true), 1);
  EXPECT_NEAR(answer.values[0] + answer.values[1] + answer.values[2], 12.0, 0.6);
}

// Beyond 3000 bytes a microsecond something else sets the pace, so that from the class's 5000 no small step shows
// anything; the measurements are those of 1500, less than a spread away from there.
TEST(ClassFit, JumpsWhereNoNearbyPointIsBetter) {
  const auto time = [](double rate, double bytes) { return 5.0 + bytes / std::min(rate, 3000.0); };
  const ClassResiduals limited = [&](std::span<const double> x) {
    std::vector<ClassResidual> rows;
    for (const double size : kSizes) rows.push_back({.error = std::log(time(x[0], size) / time(1500.0, size))});
    return rows;
  };
  const ClassFitAnswer answer = fit_to_class(std::vector<ClassConstant>{kRate}, limited);
  EXPECT_TRUE(answer.determined[0]);
  EXPECT_NEAR(answer.values[0], 1500.0, 75.0);
}

// A kernel's rate (0), for which the class has 6000 bytes a microsecond, and a wire's (1): the slower sets the pace.
// Measured are 1500 and 3000, with some messages that the kernel does not touch. The kernel's rate shows nowhere near
// the class value, so that the nearest valley has a slow wire; the deeper one is four times away in a constant that no
// row felt.
TEST(ClassFit, FindsTheDeeperOfTwoValleys) {
  const ClassConstant kernel{.low = 100.0, .high = 1e6, .start = 6000.0, .spread = 0.7};
  const ClassConstant wire{.low = 100.0, .high = 1e6, .start = 3000.0, .spread = 0.5};
  const ClassResiduals slower = [](std::span<const double> x) {
    std::vector<ClassResidual> rows;
    for (const double size : kSizes) {
      rows.push_back({.error = std::log((5.0 + size / std::min(x[0], x[1])) / (5.0 + size / 1500.0))});
      rows.push_back({.error = std::log((5.0 + size / x[1]) / (5.0 + size / 3000.0))});
    }
    return rows;
  };
  const ClassFitAnswer answer = fit_to_class(std::vector<ClassConstant>{kernel, wire}, slower);
  EXPECT_NEAR(answer.values[0], 1500.0, 75.0);
  EXPECT_NEAR(answer.values[1], 3000.0, 150.0);
}

TEST(ClassFit, StaysWithinItsBounds) {
  const ClassConstant narrow{.low = 1.0, .high = 3.0, .start = 2.0, .spread = 1.0};
  const ClassFitAnswer answer =
      fit_to_class(std::vector<ClassConstant>{narrow, kRate}, residuals_of(kSizes, {5.0, 5000.0}));
  EXPECT_NEAR(answer.values[0], 3.0, 1e-9);
}

TEST(ClassFit, OneBadRowHasLittleEffect) {
  const ClassResiduals good = residuals_of(kSizes, {5.0, 20'000.0});
  const ClassResiduals with_outlier = [&](std::span<const double> x) {
    std::vector<ClassResidual> rows = good(x);
    rows[1].error -= std::log(5.0);  // five times the time that the platform takes
    return rows;
  };
  const ClassFitAnswer answer = fit_to_class(std::vector<ClassConstant>{kLatency, kRate}, with_outlier);
  EXPECT_NEAR(answer.values[0], 5.0, 0.5);
}

TEST(ClassFit, AFewRowsDoNotPullFarFromTheClass) {
  // One row of little weight, four times as slow as the class: half of a spread at most.
  const ClassConstant tight{.low = 0.1, .high = 100.0, .start = 2.0, .spread = 0.05};
  const ClassResiduals one = [](std::span<const double> x) {
    return std::vector<ClassResidual>{{.error = std::log(x[0] / 8.0), .weight = 0.1}};
  };
  EXPECT_NEAR(fit_to_class(std::vector<ClassConstant>{tight}, one).values[0], 2.0, 0.1);
}

}  // namespace
}  // namespace ringwright::validation::class_fit_test
