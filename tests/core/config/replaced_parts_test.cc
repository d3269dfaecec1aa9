#include "core/config/replaced_parts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/yaml_reader.h"

namespace ringwright::replaced_parts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<PresetRule> kRules = {{.path = "car", .folder = "cars", .parts = {"engine", "wheels"}},
                                        {.path = "road", .folder = "roads"}};

// The warned keys; `left` are those that the map "car" still has.
std::vector<std::string> warned(const std::string& text, const std::vector<std::string>& settings,
                                std::vector<std::string>& left) {
  ConfigSource source;
  source.name = "a.yaml";
  Diagnostics problems;
  auto root = read_yaml(text, source, problems);
  EXPECT_TRUE(root);
  remove_replaced_parts(*root, kRules, settings, problems);
  left.clear();
  for (const ConfigEntry& entry : find_entry(*root, "car")->value.entries) left.push_back(entry.key);
  std::vector<std::string> messages;
  for (const Diagnostic& problem : problems.all()) {
    EXPECT_EQ(problem.severity, Severity::kWarning);
    EXPECT_EQ(problem.code, "W593");
    messages.push_back(problem.message.substr(0, problem.message.find(' ')));
  }
  return messages;
}

TEST(ReplacedParts, AreThoseOfAFileWithoutAPreset) {
  std::vector<std::string> left;
  const std::string text = "car: {seats: 4, engine: {size: 2}, wheels: 4}\n";
  for (const char* setting : {"car.preset=red", "car={seats: 5, preset: red}"}) {
    EXPECT_THAT(warned(text, {"road.preset=long", setting}, left), ElementsAre("'car.engine'", "'car.wheels'"));
    EXPECT_THAT(left, ElementsAre("seats"));
  }
}

TEST(ReplacedParts, StayWithoutAPresetInAnOverride) {
  std::vector<std::string> left;
  const std::string text = "car: {engine: {size: 2}}\nroad: {engine: 1}\n";
  for (const char* setting : {"car.engine.preset=red", "car={seats: 5}", "car={seats: [}", "road.preset=long", "car"}) {
    EXPECT_THAT(warned(text, {setting}, left), IsEmpty()) << setting;
    EXPECT_THAT(left, ElementsAre("engine"));
  }
}

TEST(ReplacedParts, StayNextToAPresetOfTheFile) {
  std::vector<std::string> left;
  EXPECT_THAT(warned("car: {preset: blue, engine: {size: 2}}\n", {"car.preset=red"}, left), IsEmpty());
  EXPECT_THAT(left, ElementsAre("preset", "engine"));
}

}  // namespace
}  // namespace ringwright::replaced_parts_test
