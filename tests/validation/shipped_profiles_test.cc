// Every shipped profile fits the machines that it is named after.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/paths.h"
#include "validation/fit/platform_constants.h"
#include "validation/nccl/class_values.h"
#include "validation/nccl/machine_list.h"
#include "validation/nccl/measured_machine.h"

namespace ringwright::validation::shipped_profiles_test {
namespace {

const std::map<std::string, std::string> kNodesOfClasses = {{"volta", "v100-x4"},
                                                            {"ampere", "dgx-a100"},
                                                            {"hopper", "dgx-h100"},
                                                            {"blackwell", "dgx-b200"},
                                                            {"cdna3", "mi300x-8gpu"}};

// Of the machine that the profile is named after, or one of the class.
[[nodiscard]] std::string node_of(const std::string& profile) {
  if (profile.starts_with("class-")) return kNodesOfClasses.at(profile.substr(6));
  static const std::map<std::string, std::string> kNodes = {
      {"a100", "dgx-a100"},     {"a100-pcie", "a100-pcie"}, {"b200", "dgx-b200"},
      {"gb200", "gb200-nvl72"}, {"gh200", "gh200-x4"},      {"h100", "dgx-h100"},
      {"h200", "hgx-h200"},     {"mi300x", "mi300x-8gpu"},  {"v100", "v100-x4"}};
  const auto machines = read_machines();
  if (!machines) return "";
  const auto machine = std::ranges::find(*machines, profile, &ListedMachine::name);
  return machine == machines->end() ? "" : kNodes.at(machine->gpu);
}

TEST(ShippedProfiles, AreReadOnTheirMachinesAndNameTheirSource) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::share_dir() + "/profiles")) {
    const std::string name = entry.path().stem().string();
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
  EXPECT_GE(count, 25);
}

// And the known values of links and NICs, as `validate nccl` simulates machines of a class.
TEST(ShippedProfiles, OfClassesSayWhatIsFittedToThem) {
  const auto values = read_class_values(std::string(kShippedClasses));
  ASSERT_TRUE(values.has_value());
  for (const auto& [name, node] : kNodesOfClasses) {
    const std::string machine = "collectives: {model: chunks}\ncluster: {nodes: 1, node: {preset: " + node + "}}\n";
    const auto profile = configs::load_machine_text("test.yaml", "preset: class-" + name + "\n" + machine);
    const auto played = configs::load_machine_text(
        "test.yaml", machine,
        {.overrides = overrides_of({.generation = name,
                                    .network = "infiniband",
                                    .link_efficiency = std::string(link_efficiency_of(name))},
                                   *values)});
    ASSERT_TRUE(profile.has_value() && played.has_value()) << name;
    for (const PlatformConstant& constant : platform_constants()) {
      EXPECT_DOUBLE_EQ(constant.class_value(*profile), constant.class_value(*played)) << name << " " << constant.path;
    }
  }
}

}  // namespace
}  // namespace ringwright::validation::shipped_profiles_test
