#include "planning/search/least_time.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/planner.h"
#include "tests/configs/campaign/random_scenario.h"
#include "tests/configs/played.h"
#include "workload/step/least_step.h"

namespace ringwright::planning::least_time_test {
using namespace configs;
namespace {

// One step, predicted as a search does it.
const std::vector<std::string> kOneQuickStep = {"simulate.steps=1", "simulate.warmup=0",
                                                "collectives.model=closed_form", "simulate.network=alpha_beta",
                                                "collectives.overhead=kernels"};

std::optional<Duration> bound_of(const Scenario& scenario) {
  KnownOverheads known(OverheadAccuracy::kInterpolated);
  LeastCalls calls(scenario, known);
  return least_time({.machine = scenario, .job = scenario.job, .simulate = scenario.simulate}, calls);
}

// Seeds whose settings are incompatible, or that no bound is known of, count as nothing.
TEST(LeastTime, IsBelowThePredictionOfAnyScenario) {
  constexpr std::uint64_t kSeeds = 400;
  int compared = 0, with_calls = 0;
  double tightest = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string text = random_scenario(seed);
    const auto scenario = load_scenario_text("random.yaml", text, {.overrides = kOneQuickStep, .share_folders = {}});
    if (!scenario) continue;
    KnownOverheads known(OverheadAccuracy::kInterpolated);
    LeastCalls calls(*scenario, known);
    const std::optional<Duration> least =
        least_time({.machine = *scenario, .job = scenario->job, .simulate = scenario->simulate}, calls);
    if (!least) continue;
    const Job& job = scenario->job;
    const auto computed = workload::least_step(
        {.shape = job.model, .training = job.training, .parallel = job.parallel}, *job.compute);
    EXPECT_GE(*least, *computed) << seed;
    if (*least > *computed) ++with_calls;
    const auto prediction = Planner(*scenario, &known).predict(*scenario);
    if (!prediction || !*prediction) continue;
    EXPECT_LE(*least, (*prediction)->step_time.mean) << seed << "\n" << text;
    ++compared;
    tightest = std::max(tightest, ratio(*least, (*prediction)->step_time.mean));
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(with_calls, 75);  // where exchanges lengthen the bound
  EXPECT_GT(tightest, 0.5);
}

std::string text_of(const std::string& training, const std::string& parallel, int gpus) {
  return std::string(kTinyModel) + "training: {global_batch: 16" + training + "}\nparallel: " + parallel +
         "\ncompute: {host_issue: 0ns}\ncluster: {nodes: 1, node: {preset: dgx-h100, gpus: " + std::to_string(gpus) +
         "}, fabric: {type: single_node}}\n";
}

// What is left of the step of one rank without communication: gradients that are cleared, their norm, the optimizer. A
// second batch of as many sequences adds only passes.
TEST(LeastTime, GrowsAsTheStepOfOneRankDoes) {
  for (const char* const recompute : {"none", "selective", "full"}) {
    const auto both = [&](int batch) {
      const Scenario scenario = load(text_of(std::string(", recompute: ") + recompute, "{tp: 1, pp: 1}", 1),
                                     {"training.global_batch=" + std::to_string(batch)});
      return std::pair(*bound_of(scenario), (*Planner(scenario).predict(scenario))->step_time.mean);
    };
    const auto few = both(16), many = both(32);
    EXPECT_EQ(many.first, few.first * 2) << recompute;
    EXPECT_EQ(many.first - few.first, many.second - few.second) << recompute;
  }
}

TEST(LeastTime, IsUnknownWhereGpusAreNotOfOneKindAndPace) {
  EXPECT_TRUE(bound_of(load(text_of("", "{tp: 2, pp: 2}", 8))).has_value());
  EXPECT_FALSE(bound_of(load(text_of("", "{tp: 2, pp: 2}", 8), {"simulate.steps=2"})).has_value());
  EXPECT_FALSE(
      bound_of(load(text_of("", "{tp: 2, pp: 2}", 8), {"parallel.partition={dimensions: [dp], substitute: true}"}))
          .has_value());
}

}  // namespace
}  // namespace ringwright::planning::least_time_test
