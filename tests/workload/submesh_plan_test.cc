#include "workload/submesh_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::workload::submesh_plan_test {
namespace {

using ::testing::ElementsAre;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Every cut and every choice of submeshes.
double least_of_all(const SubmeshProblem& problem, std::size_t first, std::size_t gpus, double sum, double longest) {
  if (first == problem.layers) {
    return gpus == 0 ? sum + (static_cast<double>(problem.microbatches) - 1.0) * longest : kNever;
  }
  double least = kNever;
  for (std::size_t end = first + 1; end <= problem.layers; ++end) {
    for (std::size_t kind = 0; kind < problem.submeshes.size(); ++kind) {
      if (problem.submeshes[kind] > gpus) continue;
      const double mine = problem.seconds({first, end, kind});
      least = std::min(least,
                       least_of_all(problem, end, gpus - problem.submeshes[kind], sum + mine, std::max(longest, mine)));
    }
  }
  return least;
}

TEST(SubmeshPlan, FindsWhatBruteForceFinds) {
  RandomStream random(3, "stages");
  for (int round = 0; round < 60; ++round) {
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, double> table;
    SubmeshProblem problem{.layers = 2 + static_cast<std::size_t>(round % 4),
                           .gpus = 4 + static_cast<std::size_t>(round % 5),
                           .submeshes = {1, 2, 4},
                           .microbatches = 1 + static_cast<std::size_t>(round % 7),
                           .seconds = {}};
    problem.seconds = [&](const SubmeshStage& stage) {
      const auto [entry, made] = table.try_emplace({stage.first, stage.end, stage.submesh}, 0.0);
      // One in five does not fit.
      if (made)
        entry->second =
            random.next_unit() < 0.2 ? kNever : random.next_unit() * static_cast<double>(stage.end - stage.first);
      return entry->second;
    };
    const auto plan = plan_submeshes(problem);
    const double least = least_of_all(problem, 0, problem.gpus, 0.0, 0.0);
    ASSERT_EQ(plan.has_value(), least < kNever) << round;
    if (plan) {
      EXPECT_NEAR(plan->seconds, least, 1e-12) << round;
    }
  }
}

TEST(SubmeshPlan, ItsStagesHoldAllLayersAndAllGpus) {
  const SubmeshProblem problem{
      .layers = 6, .gpus = 8, .submeshes = {1, 2, 4}, .microbatches = 16, .seconds = [](const SubmeshStage& stage) {
        return static_cast<double>((stage.end - stage.first) * (3 - stage.submesh));
      }};
  const auto plan = plan_submeshes(problem);
  ASSERT_TRUE(plan.has_value());
  std::size_t layer = 0, gpus = 0;
  for (const SubmeshStage& stage : plan->stages) {
    EXPECT_EQ(stage.first, layer);
    layer = stage.end;
    gpus += problem.submeshes[stage.submesh];
  }
  EXPECT_EQ(layer, 6U);
  EXPECT_EQ(gpus, 8U);
}

// A last layer of three times the work, as logits may be, and times that fall with GPUs: with many microbatches every
// stage takes as long, layers of 1 on one GPU and that of 3 on three of the four. With one, nobody waits for the
// longest stage.
TEST(SubmeshPlan, GivesTheHeavyLayerTheLargerSubmesh) {
  SubmeshProblem problem{.layers = 2, .gpus = 4, .submeshes = {1, 3}, .microbatches = 100, .seconds = {}};
  problem.seconds = [&](const SubmeshStage& stage) {
    double work = 0.0;
    for (std::size_t layer = stage.first; layer < stage.end; ++layer) work += layer == 1 ? 3.0 : 1.0;
    return work / static_cast<double>(problem.submeshes[stage.submesh]);
  };
  const auto plan = plan_submeshes(problem);
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->stages, ElementsAre(SubmeshStage{0, 1, 0}, SubmeshStage{1, 2, 1}));
  EXPECT_DOUBLE_EQ(plan->seconds, 2.0 + 99.0);  // 1 + 1, and 99 times the longest of 1
}

TEST(SubmeshPlan, IsNothingWhereNothingFits) {
  const SubmeshProblem none{
      .layers = 2, .gpus = 2, .submeshes = {1, 2}, .microbatches = 4, .seconds = [](const SubmeshStage&) {
        return kNever;
      }};
  EXPECT_FALSE(plan_submeshes(none).has_value());
  const SubmeshProblem odd{
      .layers = 2, .gpus = 3, .submeshes = {2}, .microbatches = 4, .seconds = [](const SubmeshStage&) { return 1.0; }};
  EXPECT_FALSE(plan_submeshes(odd).has_value());
}

}  // namespace
}  // namespace ringwright::workload::submesh_plan_test
