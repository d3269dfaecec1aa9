#include "configs/scenario/shipped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::shipped_file_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr ShippedKind kGoodput{.folder = "operation", .what = "goodput file"};

std::string why_not(const std::string& word) {
  const auto found = find_shipped(kGoodput, word);
  return found ? "" : render(found.error());
}

TEST(ShippedFile, AShippedNameIsItsFile) {
  const auto found = find_shipped(kGoodput, "llama3-h100");
  ASSERT_TRUE(found.has_value()) << render(found.error());
  EXPECT_THAT(*found, EndsWith("operation/llama3-h100.yaml"));
}

TEST(ShippedFile, OtherWordsHaveTheNearestName) {
  EXPECT_THAT(why_not("llama3-h10"), HasSubstr("no shipped goodput file 'llama3-h10'"));
  EXPECT_THAT(why_not("llama3-h10"), HasSubstr("did you mean 'llama3-h100'?"));
  EXPECT_THAT(why_not("qqqqqqqqqqqqqq"), HasSubstr("`ringwright list operation` shows all"));
}

TEST(ShippedFile, PathsAreLeftToTheirReader) {
  EXPECT_EQ(find_shipped(kGoodput, "none.yaml").value(), "none.yaml");
  EXPECT_EQ(find_shipped(kGoodput, "folder/none").value(), "folder/none");
}

TEST(ShippedFile, AScenarioIsNoStudyOfIt) {
  const auto found = find_study("sweep file", "llama3-8b-8-h100");
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(render(found.error()), HasSubstr("a sweep file names: scenario: llama3-8b-8-h100"));
  EXPECT_EQ(find_study("sweep file", "none").value(), "none");
}

}  // namespace
}  // namespace ringwright::configs::shipped_file_test
