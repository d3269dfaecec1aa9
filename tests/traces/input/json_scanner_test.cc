#include "traces/input/json_scanner.h"

#include <string>

#include <gtest/gtest.h>

namespace ringwright::traces::json_scanner_test {
namespace {

TEST(JsonScanner, CutsValuesOfAllKinds) {
  JsonScanner scanner(R"( {"a": [1, "]}"], "b": -2.5e3} "text \" and \\" true 7)");
  EXPECT_EQ(scanner.value()->text, R"({"a": [1, "]}"], "b": -2.5e3})");
  EXPECT_EQ(scanner.value()->text, R"("text \" and \\")");
  EXPECT_EQ(scanner.value()->text, "true");
  EXPECT_EQ(scanner.value()->text, "7");
  EXPECT_FALSE(scanner.value());
  EXPECT_EQ(scanner.stop(), ScanStop::kEnd);
}

TEST(JsonScanner, GivesTheOffsetOfAValue) {
  JsonScanner scanner("  [1]\n [2]");
  EXPECT_EQ(scanner.value()->offset, 2u);
  EXPECT_EQ(scanner.value()->offset, 7u);
}

TEST(JsonScanner, AByteOrderMarkBelongsToNoValue) {
  JsonScanner scanner("\xEF\xBB\xBF[1] 2");
  EXPECT_EQ(scanner.peek(), '[');
  const auto first = scanner.value();
  EXPECT_EQ(first->text, "[1]");
  EXPECT_EQ(first->offset, 3u);  // of the file
  EXPECT_EQ(scanner.value()->text, "2");
  JsonScanner empty("\xEF\xBB\xBF");
  EXPECT_FALSE(empty.value());
  EXPECT_EQ(empty.stop(), ScanStop::kEnd);
}

TEST(JsonScanner, WalksThroughAnArray) {
  JsonScanner scanner("[ {\"x\": 1} , 2]");
  ASSERT_TRUE(scanner.take('['));
  EXPECT_EQ(scanner.value()->text, "{\"x\": 1}");
  EXPECT_TRUE(scanner.take(','));
  EXPECT_EQ(scanner.value()->text, "2");
  EXPECT_FALSE(scanner.take(','));
  EXPECT_TRUE(scanner.take(']'));
}

TEST(JsonScanner, AValueThatIsCutOffIsNone) {
  for (const char* text : {R"({"a": [1, 2)", R"("abc)", R"({"a": "b\)", "[[["}) {
    JsonScanner scanner{std::string_view(text)};
    EXPECT_FALSE(scanner.value()) << text;
    EXPECT_EQ(scanner.stop(), ScanStop::kEnd) << text;
  }
}

TEST(JsonScanner, NamesWhatCannotBeginAValue) {
  for (const char* text : {"]", "}", ",", ":"}) {
    JsonScanner scanner{std::string_view(text)};
    EXPECT_FALSE(scanner.value()) << text;
    EXPECT_EQ(scanner.stop(), ScanStop::kSyntax) << text;
  }
}

TEST(JsonScanner, ValuesMayBeLongerThanItsReads) {
  // Reads are of 64 KiB.
  const std::string text = "\"" + std::string(300'000, 'x') + "\"";
  const std::string all = "[" + text + "," + text + "]";
  JsonScanner scanner{std::string_view(all)};
  ASSERT_TRUE(scanner.take('['));
  EXPECT_EQ(scanner.value()->text, text);
  EXPECT_TRUE(scanner.take(','));
  const auto second = scanner.value();
  EXPECT_EQ(second->text, text);
  EXPECT_EQ(second->offset, 1 + text.size() + 1);
}

TEST(JsonScanner, RefusesValuesBeyondItsMemory) {
  const std::string text(kMostValueBytes + 100'000, '[');
  JsonScanner scanner{std::string_view(text)};
  EXPECT_FALSE(scanner.value());
  EXPECT_EQ(scanner.stop(), ScanStop::kTooLong);
}

}  // namespace
}  // namespace ringwright::traces::json_scanner_test
