#include "core/base/text.h"

#include <gtest/gtest.h>

namespace ringwright::text_test {
namespace {

TEST(Text, EditDistanceCountsASwapOnce) {
  EXPECT_EQ(edit_distance("bandwidth", "bandwidth"), 0);
  EXPECT_EQ(edit_distance("bandwith", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("badnwidth", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(Text, NearestNameIsEmptyWhenNothingIsNear) {
  const std::vector<std::string> names = {"topology", "nodes", "fabric"};
  EXPECT_EQ(nearest_name("topolgy", names), "topology");
  EXPECT_EQ(nearest_name("bandwidth", names), "");
}

TEST(Text, CommasGroupDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(16384), "16,384");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
}

TEST(Text, JoinsWithASeparator) {
  const std::vector<std::string> parts = {"a", "b"};
  EXPECT_EQ(join(parts, ", "), "a, b");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

}  // namespace
}  // namespace ringwright::text_test
