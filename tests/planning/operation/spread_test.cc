#include "planning/operation/spread.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::planning::spread_test {
namespace {

double sampled_mean(const Spread& spread, int samples) {
  RandomStream stream(7, "spread");
  double sum = 0.0;
  for (int i = 0; i < samples; ++i) sum += seconds_of(spread.draw(stream));
  return sum / samples;
}

TEST(Spread, ReadsTimesWithTheirUnits) {
  EXPECT_DOUBLE_EQ(*parse_seconds("54 d"), 54.0 * 86400.0);
  EXPECT_DOUBLE_EQ(*parse_seconds("3.09h"), 11124.0);
  EXPECT_DOUBLE_EQ(*parse_seconds("200 ms"), 0.2);
  EXPECT_FALSE(parse_seconds("54"));
  EXPECT_FALSE(parse_seconds("-1 s"));
  EXPECT_FALSE(parse_seconds("1 fortnight"));
}

TEST(Spread, TimesBeyondTheClockNeverCome) {
  EXPECT_EQ(job_seconds(1e12), kNever);
  EXPECT_EQ(job_seconds(std::nan("")), kNever);
  EXPECT_EQ(job_seconds(1.5), JobTime(1'500'000'000));
  EXPECT_EQ(to_string(JobTime(11'124'000'000'000)), "3.09 h");
}

// The relative standard error of 100,000 exponential samples is 0.3 %; others are narrower, the lognormal with
// sigma 1 has 0.4 %.
TEST(Spread, DrawsHaveTheStatedMean) {
  for (const Spread& spread : {Spread::fixed(20.0), Spread::exponential(20.0), Spread::uniform(10.0, 30.0),
                               Spread::weibull(20.0, 0.78), Spread::lognormal(20.0 / std::exp(0.5), 20.0)}) {
    EXPECT_NEAR(spread.mean(), 20.0, 1e-9);
    EXPECT_NEAR(sampled_mean(spread, 100'000), 20.0, 0.3);
  }
}

// OLMo Hybrid's recoveries have a median of 3.7 and a mean of 38.9 minutes: sigma = sqrt(2 ln(38.9 / 3.7)) = 2.17.
TEST(Spread, LognormalFollowsFromMedianAndMean) {
  EXPECT_NEAR(Spread::lognormal(3.7, 38.9).second, 2.17, 0.005);
}

TEST(Spread, WeibullSamplesHaveTheStatedShape) {
  // P(life > scale) = 1 / e, whatever the shape.
  const Spread spread = Spread::weibull(100.0, 0.6);
  RandomStream stream(1, "weibull");
  int longer = 0;
  for (int i = 0; i < 100'000; ++i) longer += seconds_of(spread.draw(stream)) > spread.first ? 1 : 0;
  EXPECT_NEAR(longer / 1e5, std::exp(-1.0), 0.005);
}

TEST(Spread, ReadsMapsAndReportsMistakes) {
  auto document =
      ConfigDocument::load_text("job.yaml", "a: 2 h\nb: {distribution: uniform, from: 2700 s, to: 4500 s}\nc: soon\n");
  ConfigMap root = document->root();
  EXPECT_DOUBLE_EQ(read_spread(root, {.name = "a", .doc = "a"}).first, 7200.0);
  EXPECT_DOUBLE_EQ(read_spread(root, {.name = "b", .doc = "b"}).mean(), 3600.0);
  static_cast<void>(read_spread(root, {.name = "c", .doc = "c"}));
  ASSERT_EQ(document->log().diagnostics().error_count(), 1U);
  EXPECT_EQ(document->log().diagnostics().all().front().code, "E401");
  EXPECT_EQ(document->log().diagnostics().all().front().place.line, 3);
}

}  // namespace
}  // namespace ringwright::planning::spread_test
