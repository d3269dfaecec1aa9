#include "planning/report/json_value.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::json_value_test {
namespace {

using ::testing::HasSubstr;

std::string mistake_in(std::string_view text) {
  const auto json = parse_json("a.json", text);
  return json ? "" : render(json.error());
}

TEST(JsonValue, IsReadAsWritten) {
  const JsonValue json = parse_json("a.json", R"({"a": {"b": [1, -2.5, "three", true, null]}})").value();
  const std::vector<JsonValue>& items = json["a"]["b"].list();
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(items[0].number(), 1.0);
  EXPECT_EQ(items[1].number(), -2.5);
  EXPECT_EQ(items[2].text(), "three");
  EXPECT_TRUE(items[3].is_true());
  EXPECT_EQ(items[4].kind, JsonValue::Kind::kNull);
}

TEST(JsonValue, WhatIsMissingIsNull) {
  const JsonValue json = parse_json("a.json", R"({"a": 1})").value();
  EXPECT_FALSE(json["b"]["c"]["d"].number());
  EXPECT_TRUE(json["a"].list().empty());
  EXPECT_EQ(json["b"].text(), "");
}

TEST(JsonValue, AMistakeHasItsLineAndColumn) {
  EXPECT_THAT(mistake_in("{\n  \"a\": 1,\n  \"b\": }\n"), HasSubstr("a.json:3:8: error[E340]"));
}

TEST(JsonValue, WhatEndsTooEarlyIsAMistake) {
  EXPECT_THAT(mistake_in(R"({"a": [1, 2)"), HasSubstr("error[E340]"));
  EXPECT_THAT(mistake_in(""), HasSubstr("error[E340]"));
}

TEST(JsonValue, DeepListsAreRefused) {
  EXPECT_EQ(mistake_in(std::string(kMostJsonDepth, '[') + std::string(kMostJsonDepth, ']')), "");
  EXPECT_THAT(mistake_in(std::string(kMostJsonDepth + 1, '[')), HasSubstr("error[E341]"));
}

TEST(JsonValue, MoreValuesThanABrowserTakesAreRefused) {
  std::string text = "[0";
  for (std::size_t i = 0; i < kMostJsonValues; ++i) text += ",0";
  EXPECT_THAT(mistake_in(text + "]"), HasSubstr("error[E341]"));
}

// 1e999 is read as infinity by some readers: no axis can show it.
TEST(JsonValue, ANumberThatIsNotFiniteIsNoNumber) {
  const auto json = parse_json("a.json", R"({"a": 1e999})");
  EXPECT_TRUE(!json || !(*json)["a"].number());
}

}  // namespace
}  // namespace ringwright::planning::json_value_test
