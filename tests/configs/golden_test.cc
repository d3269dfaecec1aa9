// Results of a few scenarios, kept in tests/golden, to the last byte. When a change moves them on purpose, run the test
// with UPDATE_GOLDEN=1 in the environment, look at the difference, and say in the commit why the numbers moved.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulate.h"
#include "tests/configs/played.h"
#include "tests/paths.h"

namespace ringwright::configs::golden_test {
namespace {

std::vector<std::string> golden_scenarios() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::test_data() + "/golden")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ResultsAreThoseThatWereKept) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const Outcome outcome = simulate(*scenario, *assemble(*scenario));
  ASSERT_TRUE(outcome.report.has_value());
  const std::string json = render_json(*outcome.report);
  const std::string found = "{\n  " + json_part(json, "metrics") + ",\n  " + json_part(json, "breakdown") + "\n}\n";
  const auto kept = std::filesystem::path(GetParam()).replace_extension(".json");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(kept) << found;
  EXPECT_EQ(found, content(kept));
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(golden_scenarios()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace ringwright::configs::golden_test
