#include "planning/sweep/sweep_file.h"

#include <gtest/gtest.h>

namespace ringwright::planning::sweep_file_test {
namespace {

SweepPlan plan(const std::string& text) {
  auto read = load_sweep_text("sweep.yaml", "scenario: gpt2-1.5b-dgx-a100\n" + text);
  if (!read) throw std::runtime_error(render(read.error()));
  return std::move(*read);
}

std::string mistakes(const std::string& text) {
  const auto read = load_sweep_text("sweep.yaml", "scenario: gpt2-1.5b-dgx-a100\n" + text);
  return read ? "" : render(read.error());
}

TEST(SweepFile, CombinesAllBlocks) {
  const SweepPlan read = plan(
      "grid: {parallel.tp: [1, 2], parallel.pp: [1, 2, 4]}\n"
      "list: [{training.recompute: full, training.micro_batch: 2}, {training.recompute: none}]\n");
  EXPECT_EQ(read.size(), 12U);
  EXPECT_EQ(read.keys(),
            (std::vector<std::string>{"parallel.tp", "parallel.pp", "training.recompute", "training.micro_batch"}));
  EXPECT_EQ(
      read.values(0),
      (std::vector<KeyValue>{
          {"parallel.tp", "1"}, {"parallel.pp", "1"}, {"training.recompute", "full"}, {"training.micro_batch", "2"}}));
  EXPECT_EQ(read.values(11),
            (std::vector<KeyValue>{{"parallel.tp", "2"}, {"parallel.pp", "4"}, {"training.recompute", "none"}}));
}

TEST(SweepFile, TakesEqualEntriesOnce) {
  EXPECT_EQ(plan("grid: {parallel.tp: [1, 2, 1]}\n").size(), 2U);
  const SweepPlan listed =
      plan("list: [{parallel.tp: 1, parallel.pp: 2}, {parallel.tp: 2}, {parallel.pp: 2, parallel.tp: 1}]\n");
  EXPECT_EQ(listed.size(), 2U);
}

// It names the database: out/NAME.sqlite.
TEST(SweepFile, RefusesANameThatLeavesTheFolderOfResults) {
  EXPECT_NE(mistakes("name: ../../x\ngrid: {parallel.tp: [1, 2]}\n").find("E118"), std::string::npos);
}

TEST(SweepFile, SaysWhereAKeyStandsTwice) {
  EXPECT_NE(mistakes("grid: {parallel.tp: [1, 2]}\nset: {parallel.tp: 4}\n").find("'parallel.tp' is given twice"),
            std::string::npos);
}

TEST(SweepFile, TakesValuesOfEveryKind) {
  const SweepPlan read = plan(
      "set: {faults: [{node: 0, compute_scale: 0.5}]}\n"
      "grid: {cluster.node: [{preset: dgx-h100}], cluster.fabric.leaf.oversubscription: [\"2:1\"]}\n");
  EXPECT_EQ(read.settings, (std::vector<std::string>{"faults=[{node: 0, compute_scale: 0.5}]"}));
  EXPECT_EQ(read.values(0), (std::vector<KeyValue>{{"cluster.node", "{preset: dgx-h100}"},
                                                   {"cluster.fabric.leaf.oversubscription", "\"2:1\""}}));
}

TEST(SweepFile, DrawsSamples) {
  const SweepPlan read = plan(
      "random: {samples: 3, keys: {cluster.node.nic.bandwidth: {from: 100Gbps, to: 800Gbps}}}\n"
      "latin_hypercube: {samples: 4, keys: {training.recompute: [full, none]}}\n");
  EXPECT_EQ(read.size(), 12U);
}

TEST(SweepFile, NamesUnknownKeysWithTheirPlace) {
  const std::string text = mistakes("grid: {training.recompte: [full, none]}\nwhere: [\"parallel.ppp < 3\"]\n");
  EXPECT_NE(text.find("sweep.yaml:2:"), std::string::npos) << text;
  EXPECT_NE(text.find("error[E301]: there is no key 'training.recompte'; did you mean 'training.recompute'?"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("'parallel.ppp < 3': there is no key 'parallel.ppp'"), std::string::npos) << text;
}

TEST(SweepFile, RefusesAKeyThatIsSetTwice) {
  EXPECT_NE(mistakes("set: {parallel.tp: 1}\ngrid: {parallel.tp: [1, 2]}\n").find("E300"), std::string::npos);
  EXPECT_NE(mistakes("set: {cluster.node: {preset: dgx-h100}}\ngrid: {cluster.node.preset: [dgx-a100]}\n").find("E300"),
            std::string::npos);
}

TEST(SweepFile, RefusesWhatVariesNothing) {
  EXPECT_NE(mistakes("").find("the sweep varies nothing"), std::string::npos);
  EXPECT_NE(mistakes("grid: {parallel.tp: []}\n").find("'parallel.tp' has no values"), std::string::npos);
  EXPECT_NE(mistakes("list: []\n").find("'list' has no points"), std::string::npos);
  EXPECT_NE(mistakes("grid: {parallel.tp: 4}\n").find("write [4]"), std::string::npos);
  EXPECT_NE(mistakes("random: {samples: 3, keys: {}}\n").find("E303"), std::string::npos);
}

// 100 values of three keys each.
TEST(SweepFile, RefusesMoreCombinationsThanAreLookedAt) {
  std::string values;
  for (int i = 1; i <= 101; ++i) values += std::to_string(i) + ", ";
  EXPECT_NE(
      mistakes("grid: {parallel.tp: [" + values + "], parallel.pp: [" + values + "], parallel.cp: [" + values + "]}\n")
          .find("E304"),
      std::string::npos);
}

}  // namespace
}  // namespace ringwright::planning::sweep_file_test
