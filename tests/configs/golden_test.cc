// Results of a few scenarios, stored in tests/golden with 6 significant digits. When a change moves them on purpose,
// run the test with UPDATE_GOLDEN=1 in the environment, read the difference, and explain in the commit why they moved.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The line with its number, if it has one (`"mfu": 0.3235703095,`), rounded to 6 significant digits.
std::string rounded(const std::string& line) {
  const auto colon = line.find("\": ");
  if (colon == std::string::npos) return line;
  const char* const begin = line.c_str() + colon + 3;
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  if (end == begin) return line;
  return line.substr(0, colon + 3) + fmt::format("{:.6g}", value) + end;
}

std::string rounded_text(const std::string& json) {
  std::string text;
  for (const std::string& line : lines_of(json)) text += rounded(line) + "\n";
  return text;
}

// One line for each value that differs: its location in the file, the stored value, and the new one.
std::string difference(const std::string& stored, const std::string& found) {
  const auto before = lines_of(stored);
  const auto after = lines_of(found);
  std::string text;
  std::string part;
  for (std::size_t line = 0; line < std::max(before.size(), after.size()); ++line) {
    const std::string was = line < before.size() ? before[line] : "(nothing)";
    const std::string is = line < after.size() ? after[line] : "(nothing)";
    if (was.find("\"dim\"") != std::string::npos) part = was;
    if (was != is) text += fmt::format("line {}{}: stored {}, found {}\n", line + 1, part, was, is);
  }
  return text;
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Golden : public testing::TestWithParam<std::string> {};

TEST(Goldens, RoundToSixSignificantDigits) {
  EXPECT_EQ(rounded("    \"mfu\": 0.32357030955178634,"), "    \"mfu\": 0.32357,");
  EXPECT_EQ(rounded("  \"peak_mem_bytes\": 17671186022"), "  \"peak_mem_bytes\": 1.76712e+10");
  EXPECT_EQ(rounded("  \"dim\": \"tp\","), "  \"dim\": \"tp\",");
}

TEST(Goldens, DifferenceNamesTheLineAndBothValues) {
  EXPECT_EQ(difference("{\n\"mfu\": 1\n", "{\n\"mfu\": 2\n"), "line 2: stored \"mfu\": 1, found \"mfu\": 2\n");
}

TEST_P(Golden, ResultsAreThoseStored) {
  const auto scenario = load_scenario(GetParam());
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const Outcome outcome = simulate(*scenario, *assemble(*scenario));
  ASSERT_TRUE(outcome.report.has_value());
  const std::string json = render_json(*outcome.report);
  const std::string found =
      rounded_text("{\n  " + json_part(json, "metrics") + ",\n  " + json_part(json, "breakdown") + "\n}\n");
  const auto path = std::filesystem::path(GetParam()).replace_extension(".json");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << found;
  EXPECT_EQ(difference(rounded_text(content(path)), found), "");
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(golden_scenarios()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace ringwright::configs::golden_test
