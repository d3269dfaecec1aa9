#include "validation/training/word_rule.h"

#include <gtest/gtest.h>

namespace ringwright::validation::word_rule_test {
namespace {

TEST(WordRule, CaseAndDashesDoNotMatter) {
  EXPECT_TRUE(says("Overlap-Grad_Reduce", "overlap grad reduce"));
  EXPECT_FALSE(says("overlap", "overlap grad"));
}

TEST(WordRule, AllWordsMustOccurInAnyOrder) {
  const WordRule rule{.words = {"H100", "PCIe"}};
  EXPECT_TRUE(rule.fits("PCIE card of an h100"));
  EXPECT_FALSE(rule.fits("H100 SXM"));
}

TEST(WordRule, TheFirstRuleThatFitsHolds) {
  const std::vector<WordRule> rules = {{{"fp8", "rowwise"}}, {{"fp8"}}};
  EXPECT_EQ(find_rule(rules, "fp8 rowwise"), &rules[0]);
  EXPECT_EQ(find_rule(rules, "fp8"), &rules[1]);
  EXPECT_EQ(find_rule(rules, "bf16"), nullptr);
}

}  // namespace
}  // namespace ringwright::validation::word_rule_test
