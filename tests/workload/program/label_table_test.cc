#include "workload/program/label_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::workload::label_table_test {
namespace {

// Beyond the few that are remembered as the most recent.
TEST(LabelTable, NumbersEachLabelOnce) {
  LabelTable labels;
  std::vector<std::string> texts;
  for (int label = 0; label < 9; ++label) texts.push_back("F" + std::to_string(label));
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t label = 0; label < texts.size(); ++label) EXPECT_EQ(labels.number_of(texts[label]), label);
  }
  EXPECT_EQ(labels.take(), texts);
}

}  // namespace
}  // namespace ringwright::workload::label_table_test
