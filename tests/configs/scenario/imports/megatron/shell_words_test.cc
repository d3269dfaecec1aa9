#include "configs/scenario/imports/megatron/shell_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::shell_words_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> words(const std::vector<std::string>& lines) {
  std::vector<std::string> result;
  for (const ShellItem& item : read_shell_words(lines).items) {
    if (item.kind == ShellItem::Kind::kWord)
      result.push_back(item.word.resolved ? item.word.text : "?" + item.word.text);
  }
  return result;
}

TEST(ShellWords, AreSplitAtBlanksAndJoinedByQuotes) {
  EXPECT_THAT(words({"python run.py --name 'two words' --layout \"Et*3|(tt|)*2,L\""}),
              ElementsAre("python", "run.py", "--name", "two words", "--layout", "Et*3|(tt|)*2,L"));
}

TEST(ShellWords, CommentsAreLeftOut) {
  EXPECT_THAT(words({"# --no 1", "--yes 2  # --no 3", "--hash a#b"}), ElementsAre("--yes", "2", "--hash", "a#b"));
}

TEST(ShellWords, LinesThatGoOnAreOne) {
  const ShellText text = read_shell_words({"torchrun run.py \\", "  --tp 8 \\", "  --pp 2", "next"});
  std::vector<int> ends;
  for (std::size_t i = 0; i < text.items.size(); ++i) {
    if (text.items[i].kind == ShellItem::Kind::kEnd) ends.push_back(static_cast<int>(i));
  }
  EXPECT_THAT(ends, ElementsAre(6, 8));  // after six words, and after "next"
}

TEST(ShellWords, VariablesOfTheScriptAreFilledIn) {
  EXPECT_THAT(words({"TP=8", "PP=${PP:-4}", "--tp $TP --pp ${PP} --cp ${CP:-2} --ep $EP"}),
              ElementsAre("--tp", "8", "--pp", "4", "--cp", "2", "--ep", "?$EP"));
}

TEST(ShellWords, VariablesThatNameEachOtherDoNotRunInACircle) {
  EXPECT_THAT(words({"A=$B", "B=$A", "--x $A"}), ElementsAre("--x", "?$A"));
}

TEST(ShellWords, VariablesThatDoubleEachOtherDoNotGrowWithoutEnd) {
  // Sixteen times the previous one, eight deep: 2^32 characters.
  std::vector<std::string> lines = {"A0=x"};
  std::string sixteen;
  for (int level = 1; level <= 8; ++level) {
    sixteen.clear();
    for (int i = 0; i < 16; ++i) sixteen += "$A" + std::to_string(level - 1) + "/";
    lines.push_back("A" + std::to_string(level) + "=" + sixteen);
  }
  lines.push_back("--x $A8");
  EXPECT_THAT(words(lines), ElementsAre("--x", testing::StartsWith("?")));
}

TEST(ShellWords, WhatACommandPrintsIsNotKnown) {
  EXPECT_THAT(words({"WORLD=$(($N * 8))", "--world $WORLD --date $(date +%s)"}),
              ElementsAre("--world", "?$WORLD", "--date", "?$(date +%s)"));
}

TEST(ShellWords, BundlesOfFlagsCountWhereTheyAreAssigned) {
  EXPECT_THAT(words({"ARGS=\"--tp 8 --pp 2\"", "run $ARGS"}), ElementsAre("--tp", "8", "--pp", "2", "run"));
  EXPECT_THAT(words({"ARGS=\"", "  --tp 8 \\", "  --pp 2", "\"", "run $ARGS"}),
              ElementsAre("--tp", "8", "--pp", "2", "run"));
  EXPECT_THAT(words({"ARGS=(", "  --tp 8", "  --pp 2", ")", "run ${ARGS[@]} \"$@\""}),
              ElementsAre("--tp", "8", "--pp", "2", "run"));
}

TEST(ShellWords, KnowTheirPlace) {
  const ShellText text = read_shell_words({"first", "  --tp \"8\""});
  EXPECT_EQ(text.items[2].word.line, 2);
  EXPECT_EQ(text.items[2].word.column, 3);
  EXPECT_EQ(text.items[3].word.column, 8);
}

}  // namespace
}  // namespace ringwright::configs::shell_words_test
