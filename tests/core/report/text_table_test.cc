#include "core/report/text_table.h"

#include <gtest/gtest.h>

namespace ringwright::text_table_test {
namespace {

using Lines = std::vector<std::string>;

TEST(TextTable, AlignsNamesLeftAndNumbersRight) {
  TextTable table({Align::kLeft, Align::kRight});
  table.add_row({"compute", "5.0"});
  table.add_row({"tp", "120.5"});
  EXPECT_EQ(table.lines(), (Lines{"compute    5.0", "tp       120.5"}));
}

TEST(TextTable, LeavesNoBlanksAtTheEndOfALine) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.add_row({"a", "long"});
  table.add_row({"b", ""});
  table.add_row({"c"});
  EXPECT_EQ(table.lines(), (Lines{"a  long", "b", "c"}));
}

TEST(TextTable, ColoursTakeNoRoom) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.add_row({"\x1b[1mab\x1b[0m", "x"});
  table.add_row({"abc", "y"});
  EXPECT_EQ(table.lines(), (Lines{"\x1b[1mab\x1b[0m   x", "abc  y"}));
}

TEST(VisibleWidth, CountsCharactersNotBytes) {
  EXPECT_EQ(visible_width("5 \xC2\xB5s"), 4u);
  EXPECT_EQ(visible_width("\x1b[1;31mbad\x1b[0m"), 3u);
  EXPECT_EQ(visible_width(""), 0u);
}

TEST(VisibleWidth, SurvivesAnEscapeThatDoesNotEnd) { EXPECT_EQ(visible_width("ab\x1b[1"), 2u); }

TEST(SideBySide, StartsTheRightBlockBehindTheLongestLeftLine) {
  EXPECT_EQ(side_by_side({"ab", "abcd"}, {"1", "2", "3"}, 2), (Lines{"ab    1", "abcd  2", "      3"}));
  EXPECT_EQ(side_by_side({"ab", "c"}, {}, 2), (Lines{"ab", "c"}));
}

TEST(Shorten, KeepsBothEnds) {
  EXPECT_EQ(shorten("leaf12.rail3->spine7", 12), "leaf1..pine7");
  EXPECT_EQ(shorten("leaf", 12), "leaf");
}

TEST(ShortenEnd, KeepsTheBeginning) {
  EXPECT_EQ(shorten_end("one two three", 9), "one two..");
  EXPECT_EQ(shorten_end("one", 9), "one");
  // The sequence of two bytes is not cut.
  EXPECT_EQ(shorten_end("ab\xC2\xB5" "cdef", 5), "ab..");
}

TEST(Wrap, BreaksAtBlanksAndIndentsWhatFollows) {
  EXPECT_EQ(wrap("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrap("averylongword next", 5, 0), "averylongword\nnext");
  EXPECT_EQ(wrap("", 5, 0), "");
}

}  // namespace
}  // namespace ringwright::text_table_test
