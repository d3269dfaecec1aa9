#include "planning/sweep/condition.h"

#include <map>

#include <gtest/gtest.h>

namespace ringwright::planning::condition_test {
namespace {

const std::map<std::string, std::string, std::less<>> kPoint{{"parallel.tp", "4"},
                                                             {"parallel.pp", "8"},
                                                             {"training.recompute", "full"},
                                                             {"cluster.node.nic.bandwidth", "400Gbps"},
                                                             {"cluster.fabric.leaf.oversubscription", "2:1"}};

std::optional<std::string> value(std::string_view key) {
  const auto found = kPoint.find(key);
  return found == kPoint.end() ? std::nullopt : std::optional(found->second);
}

bool holds(std::string_view text) {
  const auto condition = Condition::parse(text);
  if (!condition) throw std::runtime_error(condition.error());
  const auto result = condition->holds(value);
  if (!result) throw std::runtime_error(result.error());
  return *result;
}

std::string mistake(std::string_view text) {
  const auto condition = Condition::parse(text);
  if (!condition) return condition.error();
  const auto result = condition->holds(value);
  return result ? "" : result.error();
}

TEST(Condition, ComputesWithKeys) {
  EXPECT_TRUE(holds("parallel.tp * parallel.pp == 32"));
  EXPECT_FALSE(holds("parallel.tp * parallel.pp < 32"));
  EXPECT_TRUE(holds("2 + 3 * parallel.tp == 14"));
  EXPECT_TRUE(holds("(2 + 3) * parallel.tp >= 20"));
  EXPECT_TRUE(holds("parallel.pp - 3 - 1 == parallel.tp"));
  EXPECT_TRUE(holds("parallel.pp / parallel.tp != 3"));
  EXPECT_TRUE(holds("parallel.pp % 3 == 2"));
}

TEST(Condition, ComparesQuantitiesInAnyUnit) {
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth == 50GB/s"));
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth > 399Gbps"));
  EXPECT_TRUE(holds("cluster.fabric.leaf.oversubscription <= 2"));
}

// A bandwidth of 400Gbps is not above "100" of an unknown unit; what passes in a time is a size.
TEST(Condition, RefusesToCompareAndAddDifferentUnits) {
  EXPECT_EQ(mistake("cluster.node.nic.bandwidth > 100"), "'400Gbps' and '100' have different units");
  EXPECT_EQ(mistake("cluster.node.nic.bandwidth < 80GB"), "'400Gbps' and '80GB' have different units");
  EXPECT_EQ(mistake("cluster.node.nic.bandwidth + 1 > 0"), "'400Gbps' and '1' have different units");
  EXPECT_EQ(mistake("cluster.node.nic.bandwidth / parallel.pp > 5"),
            "'a computed number' and '5' have different units");
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth > 0"));
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth - 0 == 50GB/s"));
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth * parallel.pp == 400GB/s"));
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth * 20ms == 1GB"));
  EXPECT_TRUE(holds("cluster.node.nic.bandwidth / 25GB/s == 2"));
}

TEST(Condition, ComparesWordsForEqualityOnly) {
  EXPECT_TRUE(holds("training.recompute == full"));
  EXPECT_TRUE(holds("training.recompute != \"none\""));
  EXPECT_EQ(mistake("training.recompute < 3"), "'full' and '3' can only be compared with == and !=");
  EXPECT_EQ(mistake("training.recompute * 2 < 3"), "'full' is no number");
}

TEST(Condition, NamesItsKeysOnce) {
  EXPECT_EQ(Condition::parse("parallel.tp * parallel.tp < parallel.pp")->keys(),
            (std::vector<std::string>{"parallel.tp", "parallel.pp"}));
}

TEST(Condition, SaysWhatCannotBeRead) {
  EXPECT_EQ(mistake("parallel.tp"), "a comparison is missing: one of <= < == != > >=, between blanks");
  EXPECT_EQ(mistake("parallel.tp < "), "it ends where a value is expected");
  EXPECT_EQ(mistake("(parallel.tp < 3"), "a bracket is not closed");
  EXPECT_EQ(mistake("1 < 3"), "it names no key, as parallel.tp");
  EXPECT_EQ(mistake("parallel.cp < 3"), "'parallel.cp' has no value here");
  EXPECT_EQ(mistake("parallel.tp / 0 < 3"), "it divides by zero");
  EXPECT_EQ(mistake(std::string(100, '(') + "parallel.tp"), "brackets are nested deeper than 32");
  EXPECT_EQ(mistake("parallel.tp < 3 and parallel.pp < 3").substr(0, 11), "cannot read");
}

}  // namespace
}  // namespace ringwright::planning::condition_test
