// Every shipped profile fits the machines that it is named after.
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "configs/scenario.h"
#include "tests/paths.h"

namespace ringwright::validation {
namespace {

// By the first part of a profile's name.
[[nodiscard]] std::string node_of(const std::string& profile) {
  static const std::map<std::string, std::string> kNodes = {
      {"a100", "dgx-a100"}, {"a100-pcie", "a100-pcie"}, {"b200", "dgx-b200"}, {"gh200", "gh200-x4"},
      {"h100", "dgx-h100"}, {"h200", "hgx-h200"},       {"mi300x", "mi300x-8gpu"}, {"v100", "v100-x4"}};
  const auto found = kNodes.find(profile.substr(0, profile.find_last_of('-')));
  return found == kNodes.end() ? "" : found->second;
}

TEST(ShippedProfiles, AreReadOnTheirMachinesAndSayWhereTheyComeFrom) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::share_dir() + "/profiles")) {
    const std::string name = entry.path().stem().string();
    ASSERT_NE(node_of(name), "") << name;
    const auto scenario = configs::load_machine_text(
        "test.yaml", "preset: " + name + "\ncluster: {nodes: 2, node: {preset: " + node_of(name) + "}}\n");
    ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
    int calibrated = 0;
    for (const ValueRead& value : scenario->document.log().values()) {
      if (value.evidence != Evidence::kCalibrated || !value.path.starts_with("comm.costs.")) continue;
      ++calibrated;
      EXPECT_NE(value.source, "") << name << " " << value.path;
    }
    EXPECT_GE(calibrated, 2) << name;
    ++count;
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace ringwright::validation
