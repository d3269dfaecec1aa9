#include "core/base/random.h"

#include <array>

#include <gtest/gtest.h>

namespace ringwright::random_test {
namespace {

TEST(Random, SplitmixIsTheReferenceOne) {
  // First outputs of Vigna's splitmix64.c with seed 0.
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(splitmix64(0x9E3779B97F4A7C15ULL), 0x6E789E6AA1B965F4ULL);
}

TEST(Random, StreamsOfDifferentNamesDifferAndRepeat) {
  RandomStream a(7, "jitter");
  RandomStream b(7, "ecmp");
  RandomStream c(7, "jitter");
  const std::uint64_t first = a.next();
  EXPECT_NE(first, b.next());
  EXPECT_EQ(first, c.next());
}

TEST(Random, NumbersBelowABoundAreEven) {
  RandomStream stream(1, "dice");
  std::array<int, 6> count{};
  for (int i = 0; i < 60'000; ++i) ++count[stream.next_below(6)];
  for (const int n : count) EXPECT_NEAR(n, 10'000, 400);  // four standard deviations are 365
  const double unit = stream.next_unit();
  EXPECT_GE(unit, 0.0);
  EXPECT_LT(unit, 1.0);
}

}  // namespace
}  // namespace ringwright::random_test
