// Every shipped profile of a machine fits the machines that it is named after.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/paths.h"
#include "validation/nccl/machine_list.h"

namespace ringwright::validation::shipped_profiles_test {
namespace {

// Of the machine that the profile is named after.
[[nodiscard]] std::string node_of(const std::string& profile) {
  static const std::map<std::string, std::string> kNodes = {
      {"a100", "dgx-a100"},     {"a100-pcie", "a100-pcie"}, {"b200", "dgx-b200"},
      {"gb200", "gb200-nvl72"}, {"gh200", "gh200-x4"},      {"h100", "dgx-h100"},
      {"h200", "hgx-h200"},     {"mi300x", "mi300x-8gpu"},  {"v100", "v100-x4"}};
  const auto machines = read_machines();
  if (!machines) return "";
  const auto machine = std::ranges::find(*machines, profile, &ListedMachine::name);
  return machine == machines->end() ? "" : kNodes.at(machine->gpu);
}

// Settings of a training stack on any machine; its row of the published systems runs it.
constexpr std::string_view kNoMachine = "megascale-overlap";

TEST(ShippedProfiles, AreReadOnTheirMachinesAndNameTheirSource) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::share_dir() + "/profiles")) {
    const std::string name = entry.path().stem().string();
    if (name == kNoMachine) continue;
    ASSERT_NE(node_of(name), "") << name;
    const auto scenario = configs::load_machine_text(
        "test.yaml", "preset: " + name + "\ncollectives: {model: chunks}\ncluster: {nodes: 1, node: {preset: " +
                         node_of(name) + "}}\n");
    ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
    int calibrated = 0;
    for (const ValueRead& value : scenario->document.log().values()) {
      if (value.evidence != Evidence::kCalibrated || !value.path.starts_with("comm.costs.")) continue;
      ++calibrated;
      EXPECT_NE(value.source, "") << name << " " << value.path;
    }
    EXPECT_GE(calibrated, 1) << name;
    ++count;
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace ringwright::validation::shipped_profiles_test
