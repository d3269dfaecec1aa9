#include "configs/scenario/published.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/paths.h"

namespace ringwright::configs::published_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> changed(const std::string& path, const std::vector<std::string>& settings = {}) {
  const auto scenario = load_scenario(path, {.overrides = settings, .share_folders = {}});
  if (!scenario) return {render(scenario.error())};
  return changed_since_published(scenario->document);
}

std::string shipped(const std::string& name) { return share_dir() + "/scenarios/" + name + ".yaml"; }

TEST(Published, FiguresAreOfTheScenarioWithoutOverridesOfTheJob) {
  const std::string path = shipped("llama3-405b-16k-h100");
  EXPECT_THAT(changed(path), IsEmpty());
  EXPECT_THAT(changed(path, {"simulate.seed=3", "compute.model=roofline", "collectives.model=closed_form"}), IsEmpty());
  EXPECT_THAT(changed(path, {"parallel.tp=4", "cluster={preset: meta-24k-roce}", "simulate.seed=3"}),
              ElementsAre("parallel.tp", "cluster.preset"));
  EXPECT_THAT(changed(path, {"parallel.tp=4", "published=[{source: a paper, mfu: 40%}]"}), IsEmpty());
}

// llama3-405b-8k-h100 states its own figures.
TEST(Published, FiguresAreOfTheFileThatStatesThem) {
  EXPECT_THAT(changed(shipped("llama3-405b-8k-h100")), IsEmpty());
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "published_test";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(shipped("llama3-405b-16k-h100"), folder / "base.yaml",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder / "mine.yaml") << "extends: base.yaml\nname: mine\nsimulate: {seed: 2}\nparallel: {pp: 8}\n";
  EXPECT_THAT(changed((folder / "mine.yaml").string()), ElementsAre("parallel.pp"));
}

}  // namespace
}  // namespace ringwright::configs::published_test
