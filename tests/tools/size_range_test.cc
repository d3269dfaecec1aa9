#include "tools/size_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::tools::size_range_test {
namespace {

using namespace literals;
using ::testing::ElementsAre;

TEST(TestSize, SuffixesAreBinaryAsInNcclTests) {
  EXPECT_EQ(parse_test_size("8"), Bytes(8));
  EXPECT_EQ(parse_test_size("128M"), 128_MiB);
  EXPECT_EQ(parse_test_size("1.5g"), Bytes(3 * (512 << 20)));
  EXPECT_EQ(parse_test_size("64k"), 64_KiB);
  EXPECT_EQ(parse_test_size("2T"), Bytes(std::int64_t{2} << 40));
}

TEST(TestSize, UnitsWithNamesMeanWhatTheyMeanElsewhere) {
  EXPECT_EQ(parse_test_size("64KiB"), 64_KiB);
  EXPECT_EQ(parse_test_size("1MB"), Bytes(1'000'000));
}

TEST(TestSize, OtherWordsAreNone) {
  for (const char* word : {"", "M", "-8", "8X", "0", "1e30", "0.5", "nan"}) EXPECT_FALSE(parse_test_size(word)) << word;
}

TEST(SizeRange, GrowsByItsFactorUpToTheLast) {
  EXPECT_THAT(sizes_of({.from = 8_B, .to = 100_B, .factor = 4.0}), ElementsAre(8_B, 32_B));
  EXPECT_THAT(sizes_of({.from = 8_B, .to = 32_B, .factor = 2.0}), ElementsAre(8_B, 16_B, 32_B));
}

TEST(SizeRange, GrowsByItsIncrementWhenThereIsOne) {
  EXPECT_THAT(sizes_of({.from = 8_B, .to = 30_B, .increment = 10_B}), ElementsAre(8_B, 18_B, 28_B));
}

TEST(SizeRange, EndsWhereAFactorDoesNotGrow) {
  EXPECT_THAT(sizes_of({.from = 1_B, .to = 9_B, .factor = 1.0}), ElementsAre(1_B));
}

}  // namespace
}  // namespace ringwright::tools::size_range_test
