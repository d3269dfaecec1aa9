#include "planning/sweep/sampling.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace ringwright::planning::sampling_test {
namespace {

SampleBlock block(Sampling sampling, std::size_t samples, std::string_view from, std::string_view to,
                  Scale scale = Scale::kLinear) {
  return {.sampling = sampling,
          .samples = samples,
          .keys = {{.key = "a", .range = *make_range(from, to, scale), .choices = {}},
                   {.key = "b", .range = {}, .choices = {"x", "y"}}}};
}

// 16 strata of 0 .. 16: one sample in each.
TEST(Sampling, ALatinHypercubeHasOneValueInEveryStratum) {
  std::set<int> strata;
  std::size_t of_x = 0;
  for (const auto& sample : draw(block(Sampling::kLatinHypercube, 16, "0s", "16s"), 1)) {
    strata.insert(static_cast<int>(std::stod(sample[0])));
    if (sample[1] == "x") ++of_x;
  }
  EXPECT_EQ(strata.size(), 16U);
  EXPECT_EQ(of_x, 8U);
}

TEST(Sampling, DependsOnTheSeedAndOnTheKeyAlone) {
  SampleBlock both = block(Sampling::kRandom, 8, "0s", "16s");
  SampleBlock alone = both;
  alone.keys.pop_back();
  const auto first = draw(both, 1);
  const auto second = draw(alone, 1);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(first[i][0], second[i][0]);
  EXPECT_EQ(first, draw(both, 1));
  EXPECT_NE(first, draw(both, 2));
}

TEST(Sampling, WritesValuesWithTheirUnit) {
  const ValueRange range = *make_range("100Gbps", "800Gbps", Scale::kLinear);
  EXPECT_EQ(range.at(0.0), "100Gbps");
  EXPECT_EQ(range.at(0.5), "450Gbps");
}

TEST(Sampling, ConvertsTheUpperEndToTheUnitOfTheLower) {
  EXPECT_EQ(make_range("200ns", "2us", Scale::kLinear)->at(0.5), "1100ns");
  EXPECT_EQ(make_range("50GB/s", "800Gbps", Scale::kLinear)->at(0.5), "75GB/s");
  EXPECT_EQ(make_range("10%", "0.5", Scale::kLinear)->at(0.5), "30%");
  EXPECT_FALSE(make_range("1us", "2GB", Scale::kLinear));
  EXPECT_FALSE(make_range("1", "2us", Scale::kLinear));
}

TEST(Sampling, SpreadsALogarithmicRangeByRatios) {
  const ValueRange range = *make_range("1us", "100us", Scale::kLogarithmic);
  EXPECT_EQ(range.at(0.5), "10us");
}

// Every whole number of 1 .. 4 has a quarter of the positions.
TEST(Sampling, WholeEndsGiveWholeNumbers) {
  const ValueRange range = *make_range("1", "4", Scale::kLinear);
  EXPECT_EQ(range.at(0.0), "1");
  EXPECT_EQ(range.at(0.249), "1");
  EXPECT_EQ(range.at(0.251), "2");
  EXPECT_EQ(range.at(0.999), "4");
}

TEST(Sampling, RefusesRangesWithoutValues) {
  EXPECT_EQ(make_range("1Gbps", "1s", Scale::kLinear).error(), "from 1Gbps to 1s: both ends need a unit of one kind");
  EXPECT_EQ(make_range("2", "1", Scale::kLinear).error(), "from 2 to 1: it is empty");
  EXPECT_EQ(make_range("0", "1", Scale::kLogarithmic).error(), "from 0: a logarithmic range starts above 0");
  EXPECT_EQ(make_range("fast", "1", Scale::kLinear).error(), "'fast' is no number with a unit");
}

}  // namespace
}  // namespace ringwright::planning::sampling_test
