// Errors of machines that were left out, as `ringwright collective` prints them.
#include "validation/left_out/left_out_collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::left_out_collectives_test {
namespace {

using ::testing::HasSubstr;

TEST(LeftOut, AreThoseOfTheKindOfNetwork) {
  const auto errors = parse_left_out("left.csv",
                                     "transport,band,logs,machines,error,bias\n"
                                     "none,below 64 KiB,9,4,0.21,-0.05\n"
                                     "efa,below 64 KiB,1,1,0.4,-0.4\nefa,64 MiB and above,2,2,0.05,0.01\n");
  ASSERT_TRUE(errors.has_value()) << render(errors.error());
  EXPECT_EQ(left_out_text(*errors, "efa"),
            "below 64 KiB 40 % (-40) on 1 machine, 64 MiB and above 5 % (+1) on 2 machines");
  EXPECT_EQ(left_out_text(*errors, "pigeons"), "");
}

TEST(LeftOut, MistakesAreReportedWithTheirPlace) {
  const auto errors = parse_left_out("left.csv", "transport,band,logs,machines,error,bias\nefa,all,1,many,0.4,0.1\n");
  ASSERT_FALSE(errors.has_value());
  EXPECT_THAT(render(errors.error()), HasSubstr("left.csv:2"));
  EXPECT_FALSE(parse_left_out("left.csv", "transport,band\n").has_value());
}

TEST(LeftOut, ShipForNetworksAndWithinAHost) {
  const auto errors = read_left_out();
  ASSERT_TRUE(errors.has_value()) << render(errors.error());
  EXPECT_THAT(left_out_text(*errors, "none"), HasSubstr("below 64 KiB"));
  EXPECT_THAT(left_out_text(*errors, "infiniband"), HasSubstr("below 64 KiB"));
}

}  // namespace
}  // namespace ringwright::validation::left_out_collectives_test
