#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"
#include "tests/paths.h"

namespace ringwright::configs::shipped_scenarios_test {
namespace {

// Builds with checks and sanitizers are twenty times slower: there, a scenario runs on at most two replicas with few
// microbatches. Release builds run it unchanged, except for a million GPUs: they take gigabytes, and tests run
// concurrently (the benchmarks simulate them all).
[[nodiscard]] std::vector<std::string> reduced(const Scenario& scenario) {
#ifdef NDEBUG
  constexpr std::int64_t kMostGpus = 100'000;
#else
  constexpr std::int64_t kMostGpus = 0;
#endif
  if (scenario.cluster.gpus() <= kMostGpus) return {"simulate.steps=1"};
  // Groups of nodes stay: their layout depends on them.
  if (!scenario.cluster.groups.empty()) return {"simulate.steps=1", "training.global_batch=64"};
  const workload::ParallelOptions& parallel = scenario.job.parallel;
  const int microbatches = parallel.virtual_stages > 1 ? parallel.pp : 4;
  // Experts spread over ranks of other replicas, too.
  const int replicas = std::max(std::min(parallel.dp, 2),
                                parallel.experts.etp * parallel.experts.ep / (parallel.tp * parallel.cp));
  std::vector<std::string> overrides = {"simulate.steps=1", "parallel.dp=auto"};
  overrides.push_back("training.global_batch=" +
                      std::to_string(replicas * microbatches * scenario.job.training.micro_batch));
  const int ranks = parallel.tp * parallel.cp * parallel.pp * replicas;
  if (ranks >= scenario.cluster.host.gpus) {
    overrides.push_back("cluster.nodes=" + std::to_string(ranks / scenario.cluster.host.gpus));
  } else {
    overrides.back() = "training.global_batch=" + std::to_string(scenario.job.training.global_batch);
  }
  return overrides;
}

// Ours over published, as times. Wide, because these scenarios depend on assumed kernel efficiencies and leave out
// other costs of a real step (stragglers, data loading, host time): we may be 40 % too fast, but hardly too slow. A
// ratio outside the range means that some cost of the step is missing or counted twice.
[[maybe_unused]] constexpr double kFastest = 0.60;
[[maybe_unused]] constexpr double kSlowest = 1.15;

[[nodiscard, maybe_unused]] double time_ratio(const Comparison& comparison) {
  const double ratio = comparison.ours / comparison.published.value;
  return comparison.published.quantity == PublishedQuantity::kStepTime ? ratio : 1.0 / ratio;
}

[[nodiscard]] std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::share_dir() + "/scenarios")) {
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

TEST_P(ShippedScenario, RunsToItsEnd) {
  const auto whole = load_scenario(GetParam());
  ASSERT_TRUE(whole.has_value()) << render(whole.error());
  const auto scenario = load_scenario(GetParam(), {.overrides = reduced(*whole), .share_folders = {}});
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const auto simulation = Simulation::assemble(*scenario, FoldMode::kFold);
  ASSERT_TRUE(simulation.has_value()) << render(simulation.error());
  const Outcome outcome = simulate(*scenario, **simulation);
  ASSERT_EQ(outcome.end, RunOutcome::kFinished) << render(outcome.stall);
  const Report& report = *outcome.report;
  EXPECT_EQ(report.gpus, static_cast<std::size_t>(scenario->cluster.gpus()));
  ASSERT_TRUE(report.model_flop_utilisation.has_value());
  EXPECT_GT(*report.model_flop_utilisation, 0.01);
  // What the best kernels reach alone, without anything around them. A convolution by Winograd's F(4x4, 3x3) multiplies
  // 4 times less often than it is counted (Lavin and Gray, arXiv 1509.09308).
  EXPECT_LT(*report.model_flop_utilisation, scenario->job.layered ? 0.75 * 4.0 : 0.75);
#ifdef NDEBUG
  for (const Comparison& comparison : report.comparisons) {
    EXPECT_GT(time_ratio(comparison), kFastest) << comparison.published.source;
    EXPECT_LT(time_ratio(comparison), kSlowest) << comparison.published.source;
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(All, ShippedScenario, ::testing::ValuesIn(shipped_scenarios()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace ringwright::configs::shipped_scenarios_test
