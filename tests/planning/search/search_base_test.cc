#include "planning/search/search_base.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "planning/search/search.h"
#include "tests/configs/played.h"
#include "tests/support/own_folder.h"

namespace ringwright::planning::search_base_test {
using namespace configs;
namespace {

std::string file_of(const std::string& parallel, const std::string& training) {
  std::string path = test::own_folder() + "search_base.yaml";
  std::ofstream(path) << kTinyModel << "training: " << training << "\nparallel: " << parallel
                      << "\nsearch: {virtual_stages: [1], recompute: [none], sharding: [none], stage_layers: [even], "
                         "replay: 0}\ncluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";
  return path;
}

// Five stages divide neither 8 GPUs nor 8 layers: layouts that do are searched.
TEST(SearchBase, ALayoutThatDoesNotFitTheMachineIsReplacedByOneThatDoes) {
  const std::string path = file_of("{pp: 5, dp: auto}", "{global_batch: 16}");
  ASSERT_FALSE(load_scenario(path, {}).has_value());
  const auto base = load_search_base(path, {}, {});
  ASSERT_TRUE(base.has_value()) << render(base.error());
  EXPECT_NE(base->own_problem, "");
  const auto result = search(base->scenario, base->scenario.search, {.threads = 1, .own_problem = base->own_problem});
  ASSERT_TRUE(result.has_value()) << render(result.error());
  EXPECT_FALSE(result->ranked.empty());
  EXPECT_EQ(result->own.problem, base->own_problem);
}

TEST(SearchBase, ALayoutThatFitsIsTheScenariosOwn) {
  const auto base = load_search_base(file_of("{pp: 2, dp: auto}", "{global_batch: 16}"), {}, {});
  ASSERT_TRUE(base.has_value()) << render(base.error());
  EXPECT_EQ(base->own_problem, "");
  EXPECT_EQ(base->scenario.job.parallel.pp, 2);
}

// Mistakes elsewhere are not attributed to the layout.
TEST(SearchBase, OtherMistakesAreReportedAsEver) {
  EXPECT_FALSE(load_search_base(file_of("{pp: 5, dp: auto}", "{global_batch: 16, nonsense: 1}"), {}, {}).has_value());
}

}  // namespace
}  // namespace ringwright::planning::search_base_test
