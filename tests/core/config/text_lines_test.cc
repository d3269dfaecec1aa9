#include "core/config/text_lines.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::text_lines_test {
namespace {

using ::testing::ElementsAre;

TEST(TextLines, EndAtLineFeedsWithOrWithoutCarriageReturn) {
  EXPECT_THAT(split_lines("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(split_lines("\xEF\xBB\xBF"
                          "a"),
              ElementsAre("a"));
  EXPECT_TRUE(split_lines("").empty());
}

TEST(TextLines, AreUtf8AndNothingElse) {
  EXPECT_FALSE(first_bad_byte("plain\ttext\r\n"));
  EXPECT_FALSE(first_bad_byte("ä € 😀"));              // two, three and four bytes
  EXPECT_EQ(first_bad_byte("ab\xE9"), 2U);            // Latin-1
  EXPECT_EQ(first_bad_byte("a\xC3"), 1U);             // cut short
  EXPECT_EQ(first_bad_byte("\xC0\xAF"), 0U);          // overlong '/'
  EXPECT_EQ(first_bad_byte("\xE0\x80\xAF"), 0U);      // overlong '/' again
  EXPECT_EQ(first_bad_byte("\xED\xA0\x80"), 0U);      // a surrogate
  EXPECT_EQ(first_bad_byte("\xF4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(first_bad_byte("\x80"), 0U);              // a continuation with nothing to continue
  EXPECT_EQ(first_bad_byte(std::string("a\0b", 3)), 1U);
  EXPECT_EQ(first_bad_byte("a\x1B[31m"), 1U);  // a terminal's escape
  EXPECT_EQ(first_bad_byte("\x7F"), 0U);
}

TEST(TextLines, Utf16BeginsWithItsMarkAndACharacter) {
  EXPECT_TRUE(is_utf16(std::string_view("\xFF\xFE{\0", 4)));
  EXPECT_TRUE(is_utf16(std::string_view("\xFE\xFF\0{", 4)));
  EXPECT_FALSE(is_utf16(std::string_view("\xFF\xFE\0\0", 4)));  // a small number
  EXPECT_FALSE(is_utf16("{\"a\": 1}"));
  EXPECT_FALSE(is_utf16("\xFF\xFE"));
}

TEST(TextLines, CountCharacters) {
  EXPECT_EQ(characters_before("äb", 0), 0U);
  EXPECT_EQ(characters_before("äb", 2), 1U);
  EXPECT_EQ(characters_before("äb", 3), 2U);
  EXPECT_EQ(characters_before("äb", 99), 2U);
}

TEST(TextLines, FindTheByteOfACharacter) {
  EXPECT_EQ(byte_of_character("äb", 0), 0U);
  EXPECT_EQ(byte_of_character("äb", 1), 2U);
  EXPECT_EQ(byte_of_character("äb", 2), 3U);
  EXPECT_EQ(byte_of_character("", 0), 0U);
}

TEST(TextLines, JoinSurrogatePairsAndOnlyThose) {
  EXPECT_EQ(join_surrogates(R"("\ud83d\ude00")"), R"("\U0001F600")");
  EXPECT_EQ(join_surrogates(R"("\\ud83d\ude00")"), R"("\\ud83d\ude00")");  // a backslash, then text, then half a pair
  EXPECT_EQ(join_surrogates(R"("\u00e9\ud83d")"), R"("\u00e9\ud83d")");
  EXPECT_EQ(join_surrogates("\\"), "\\");
  EXPECT_EQ(join_surrogates(R"(\ud83d\u)"), R"(\ud83d\u)");
}

}  // namespace
}  // namespace ringwright::text_lines_test
