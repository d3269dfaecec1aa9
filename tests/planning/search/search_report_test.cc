#include "planning/search/search_report.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"
#include "tests/paths.h"

namespace ringwright::planning::search_report_test {
using namespace configs;
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SearchPage : public ::testing::Test {
 protected:
  SearchPage()
      : scenario_(*load_scenario(ringwright::test_data() + "/planning/search/uneven.yaml")),
        result_(*search(scenario_, scenario_.search)) {}

  [[nodiscard]] SearchReport report(Detail detail = Detail::kNormal) const {
    return {.scenario = scenario_, .settings = scenario_.search, .result = result_, .detail = detail};
  }

  Scenario scenario_;
  SearchResult result_;
};

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// To the last byte; rewritten with UPDATE_GOLDEN=1, like the results of tests/golden.
TEST_F(SearchPage, GoldenIsThatWhichWasKept) {
  const std::string kept = ringwright::test_data() + "/planning/search/uneven.txt";
  const std::string found = render_search_text(report());
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(kept) << found;
  EXPECT_EQ(found, content(kept));
}

TEST_F(SearchPage, QuietlyTellsOnlyTheBestAndTheScenariosOwn) {
  const std::string quiet = render_search_text(report(Detail::kQuiet));
  EXPECT_THAT(quiet, HasSubstr("The best 10 of"));
  EXPECT_THAT(quiet, HasSubstr("The scenario's own layout"));
  EXPECT_THAT(quiet, Not(HasSubstr("Does not fit")));
  EXPECT_THAT(quiet, Not(HasSubstr("combinations")));
}

// 7 layers in 2 chunks: the scenario's own list is a layout that no rule of the axes gives.
TEST_F(SearchPage, TellsTheScenariosOwnListOfLayers) {
  EXPECT_THAT(render_search_text(report()), HasSubstr("listed"));
  EXPECT_THAT(render_search_json(report()), HasSubstr("\"layers_per_part\": [4, 3]"));
}

TEST_F(SearchPage, HasARowForEveryLegalLayout) {
  const std::string csv = render_search_csv(report());
  const auto rows = static_cast<std::size_t>(std::ranges::count(csv, '\n'));
  EXPECT_EQ(rows, result_.legal() + 1);
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const auto columns = std::ranges::count(line, ',');
  while (std::getline(lines, line)) EXPECT_EQ(std::ranges::count(line, ','), columns) << line;
}

TEST_F(SearchPage, CountsWhatIsSkipped) {
  EXPECT_THAT(render_search_text(report()), Not(HasSubstr("skipped")));
  EXPECT_THAT(render_search_json(report()), Not(HasSubstr("skipped")));
  SearchSettings settings = scenario_.search;
  settings.skip_slower = configs::SkipSlower::kAlways;
  const SearchReport skipping{.scenario = scenario_, .settings = settings, .result = result_};
  const std::size_t fitting = result_.fitting();
  result_.skipped.push_back({.configuration = std::move(result_.ranked.back()), .least = Duration(1)});
  result_.ranked.pop_back();
  EXPECT_EQ(result_.fitting(), fitting);
  EXPECT_THAT(render_search_text(skipping), HasSubstr("1  fit and are skipped"));
  EXPECT_THAT(render_search_json(skipping), HasSubstr("\"skipped\": 1,\n  \"bounds_hold\": true,"));
  EXPECT_THAT(render_search_csv(skipping), HasSubstr("\nskipped,"));
  result_.bounds_hold = false;
  EXPECT_THAT(render_search_text(skipping), HasSubstr("below its bound"));
}

// An axis of one value has no column: where the own layout has another value, a line says so.
TEST(SearchText, SaysWhatTheOwnLayoutHasThatIsNotTried) {
  const auto text = [](const std::string& axes) {
    const Scenario scenario =
        load(std::string(kTinyModel) +
             "training: {global_batch: 16}\nparallel: {tp: 4, sequence_parallel: true}\nsearch: {replay: 0, pp: [1], "
             "virtual_stages: [1], micro_batch: [1], recompute: [none], sharding: [none], " +
             axes + "}\ncluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n");
    const SearchResult result = *search(scenario, scenario.search);
    return render_search_text({.scenario = scenario, .settings = scenario.search, .result = result});
  };
  EXPECT_THAT(text("tp: [2]"), HasSubstr("\n  has tp 4, which the search does not try\n"));
  EXPECT_THAT(text("tp: [4]"), Not(HasSubstr("does not try")));
  EXPECT_THAT(text("tp: [2, 8]"), Not(HasSubstr("does not try")));
}

TEST(Exposed, AddsUpTheDimensions) {
  const TimeBreakdown breakdown{
      .of = "", .dimensions = {{.name = "tp", .exposed = Duration(3)}, {.name = "dp", .exposed = Duration(4)}}};
  EXPECT_EQ(exposed(breakdown), Duration(7));
}

// The GPUs hold all of it, and their host not what is offloaded.
TEST(SearchText, SaysWhereAHostsMemoryIsTooSmall) {
  const Scenario scenario = load(
      std::string(kTinyModel) +
      "training: {global_batch: 16}\nparallel: {dp: auto, zero: {stage: 1, offload_optimizer: {device: cpu}}}\n"
      "search: {tp: [1, 2], pp: [1], micro_batch: [1], recompute: [none], sharding: [zero-1], stage_layers: [even]}\n"
      "cluster: {nodes: 1, node: {preset: dgx-h100, memory: {capacity: 1kB}}, fabric: {type: single_node}}\n");
  const auto result = search(scenario, scenario.search);
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->misfits.size(), 2U);
  EXPECT_TRUE(result->misfits.front().fullest.fits());
  const SearchReport report{.scenario = scenario, .settings = scenario.search, .result = *result};
  EXPECT_THAT(render_search_text(report), HasSubstr("  memory of host 0: "));
}

}  // namespace
}  // namespace ringwright::planning::search_report_test
