#include "core/base/json_text.h"

#include <gtest/gtest.h>

namespace ringwright::json_text_test {
namespace {

TEST(JsonText, QuotesAndEscapes) {
  EXPECT_EQ(json_text("plain"), "\"plain\"");
  EXPECT_EQ(json_text("a \"b\" \\ c\nd\te"), "\"a \\\"b\\\" \\\\ c\\nd\\te\"");
  EXPECT_EQ(json_text(std::string_view("\x01", 1)), "\"\\u0001\"");
  EXPECT_EQ(json_text("\xC2\xB5s"), "\"\xC2\xB5s\"");
}

}  // namespace
}  // namespace ringwright::json_text_test
