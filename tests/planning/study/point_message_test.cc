#include "planning/study/point_message.h"

#include <gtest/gtest.h>

namespace ringwright::planning::point_message_test {
namespace {

TEST(PointMessage, ReadsBackWithoutLoss) {
  Point point{.fingerprint = "f", .status = PointStatus::kTooLarge, .code = "E1", .reason = "3:4 of \"x\"\n"};
  point.figures.step = Duration((std::int64_t{1} << 53) + 1);
  point.figures.parts = {{.cause = "compute: gemm", .time = Duration(-1)}, {.cause = "", .time = Duration(2)}};
  point.figures.tokens_per_second_per_gpu = 1.0 / 3.0;
  point.figures.cost.usd = 1e-300;
  point.figures.memory = Bytes(7);
  point.figures.processed = "samples";
  const auto again = unpacked(packed(point));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(packed(*again), packed(point));
  EXPECT_EQ(again->reason, point.reason);
  EXPECT_EQ(again->figures.step, point.figures.step);
  EXPECT_EQ(again->figures.processed, "samples");
  EXPECT_EQ(again->figures.parts, point.figures.parts);
  EXPECT_DOUBLE_EQ(again->figures.tokens_per_second_per_gpu, 1.0 / 3.0);
  EXPECT_FALSE(again->figures.model_flop_utilisation.has_value());
}

TEST(PointMessage, RefusesOtherTexts) {
  const std::string message = packed(Point{.fingerprint = "f", .status = PointStatus::kOk});
  EXPECT_FALSE(unpacked("").has_value());
  EXPECT_FALSE(unpacked("99999999999999999999:x").has_value());
  for (std::size_t length = 1; length < message.size(); ++length) {
    EXPECT_FALSE(unpacked(std::string_view(message).substr(0, length)).has_value()) << length;
  }
}

}  // namespace
}  // namespace ringwright::planning::point_message_test
