#include "configs/scenario/catalogue.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"

namespace ringwright::configs::catalogue_test {
namespace {

[[nodiscard]] std::vector<CatalogueEntry> entries(std::string_view kind) {
  for (CatalogueSection& section : catalogue(load_options({}))) {
    if (section.kind == kind) return section.entries;
  }
  return {};
}

[[nodiscard]] bool has(const std::vector<CatalogueEntry>& entries, std::string_view name) {
  return std::ranges::any_of(entries, [&](const CatalogueEntry& entry) { return entry.name == name; });
}

TEST(Catalogue, ListsWhatIsShippedAndWhatIsBuiltIn) {
  EXPECT_TRUE(has(entries("models"), "llama3.1-405b"));
  EXPECT_TRUE(has(entries("gpus"), "h100-sxm5-80gb"));
  EXPECT_TRUE(has(entries("nodes"), "dgx-h100"));
  EXPECT_TRUE(has(entries("fabrics"), "rail_optimized"));
  EXPECT_TRUE(has(entries("networks"), "flow"));
  EXPECT_TRUE(has(entries("collectives"), "ring"));
  EXPECT_TRUE(has(entries("channels"), "nvls_tree"));
  EXPECT_TRUE(has(entries("schedules"), "1f1b"));
  EXPECT_TRUE(has(entries("compute"), "roofline"));
}

TEST(Catalogue, ListsVersionsThatAScenarioMayName) {
  EXPECT_TRUE(has(entries("nccl"), "2.27"));
  EXPECT_FALSE(has(entries("nccl"), "rccl"));
}

TEST(Catalogue, SaysWhatEachThingIs) {
  for (const CatalogueSection& section : catalogue(load_options({}))) {
    EXPECT_FALSE(section.entries.empty()) << section.kind;
    for (const CatalogueEntry& entry : section.entries)
      EXPECT_FALSE(entry.summary.empty()) << section.kind << " " << entry.name;
  }
}

TEST(Catalogue, FindsShippedScenariosByName) {
  for (const CatalogueEntry& entry : entries("scenarios")) {
    EXPECT_TRUE(std::filesystem::exists(scenario_path(load_options({}), entry.name))) << entry.name;
  }
  EXPECT_EQ(scenario_path(load_options({}), "no-such-scenario"), "");
}

}  // namespace
}  // namespace ringwright::configs::catalogue_test
