#include "traces/input/decimal.h"

#include <gtest/gtest.h>

namespace ringwright::traces::decimal_test {
namespace {

TEST(ScaledDecimal, IsExact) {
  EXPECT_EQ(scaled_decimal("1683564902174220", 3), 1'683'564'902'174'220'000);
  EXPECT_EQ(scaled_decimal("-0.5", 3), -500);
  EXPECT_EQ(scaled_decimal("2.0009", 3), 2000);
  EXPECT_EQ(scaled_decimal("1.5e3", 0), 1500);
  EXPECT_FALSE(scaled_decimal("", 0));
  EXPECT_FALSE(scaled_decimal("1x", 0));
  EXPECT_FALSE(scaled_decimal("99999999999999999999", 0));
}

}  // namespace
}  // namespace ringwright::traces::decimal_test
