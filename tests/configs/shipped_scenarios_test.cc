#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/scenario.h"

namespace ringwright::configs {
namespace {

[[nodiscard]] std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RINGWRIGHT_SHARE_DIR "/scenarios")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

class ShippedScenario : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedScenario, LoadsWithoutErrorsOrWarnings) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  EXPECT_TRUE(scenario->document.log().diagnostics().all().empty()) << render(scenario->document.log().diagnostics());
}

TEST_P(ShippedScenario, IsNamedAsItsFile) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(scenario->name, std::filesystem::path(GetParam()).stem().string());
}

TEST_P(ShippedScenario, SaysWhereItsPublishedFiguresComeFrom) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario.has_value());
  for (const PublishedFigure& figure : scenario->published) {
    EXPECT_FALSE(figure.source.empty());
    EXPECT_GT(figure.value, 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedScenario, ::testing::ValuesIn(shipped_scenarios()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).stem().string();
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace ringwright::configs
