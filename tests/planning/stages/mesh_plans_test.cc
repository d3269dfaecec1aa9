#include "planning/stages/mesh_plans.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::planning::mesh_plans_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workload::StageMesh;

// Layers of different lengths; tensor parallelism shares them at a loss.
class SomeCosts {
 public:
  SomeCosts(std::uint64_t seed, std::int64_t layers) {
    RandomStream random(seed, "layers");
    for (std::int64_t i = 0; i < layers; ++i) seconds_.push_back(0.5 + random.next_unit());
    loss_ = random.next_unit();
  }
  [[nodiscard]] double seconds(std::int64_t layer, std::int64_t tp, std::int64_t sequences) const {
    const double share = static_cast<double>(sequences) / static_cast<double>(tp);
    return seconds_[static_cast<std::size_t>(layer)] * share * (1.0 + loss_ * std::log2(static_cast<double>(tp)));
  }
  [[nodiscard]] const MeshCosts* of(std::int64_t tp, std::int64_t sequences) const {
    const auto [known, is_new] = known_.try_emplace(std::pair(tp, sequences));
    MeshCosts& costs = known->second;
    if (!is_new) return &costs;
    for (std::size_t layer = 0; layer < seconds_.size(); ++layer) {
      costs.seconds.layers.push_back(seconds(static_cast<std::int64_t>(layer), tp, sequences));
    }
    costs.seconds.first = 0.1 * static_cast<double>(sequences);
    costs.seconds.last = 0.7 * static_cast<double>(sequences);
    costs.state = Bytes(16 / tp);
    return &costs;
  }

 private:
  std::vector<double> seconds_;
  double loss_ = 0.0;
  mutable std::map<std::pair<std::int64_t, std::int64_t>, MeshCosts> known_;
};

// All divisions of the layers from `first` on over so many ranks: sum and maximum of stages decide.
class AllPlans {
 public:
  AllPlans(const SomeCosts& costs, const MeshProblem& problem, std::int64_t replicas)
      : costs_(costs), problem_(problem), replicas_(replicas) {}

  [[nodiscard]] double best() {
    best_ = std::numeric_limits<double>::infinity();
    extend(0, problem_.ranks, 0.0, 0.0, 1);
    return best_;
  }

 private:
  void extend(std::int64_t first, std::int64_t ranks, double sum, double slowest, std::int64_t widest) {
    if (first == problem_.layers) {
      const std::int64_t microbatches = problem_.global_batch / (problem_.micro_batch * replicas_);
      if (ranks == 0 && widest == replicas_)
        best_ = std::min(best_, sum + static_cast<double>(microbatches - 1) * slowest);
      return;
    }
    for (std::int64_t last = first; last < problem_.layers; ++last) {
      for (const std::int64_t tp : problem_.tensor_sizes) {
        for (std::int64_t dp = 1; tp * dp <= ranks; dp *= 2) {
          if (dp > replicas_) continue;
          const std::int64_t sequences = problem_.micro_batch * replicas_ / dp;
          double seconds = first == 0 ? 0.1 * static_cast<double>(sequences) : 0.0;
          if (last + 1 == problem_.layers) seconds += 0.7 * static_cast<double>(sequences);
          for (std::int64_t layer = first; layer <= last; ++layer) seconds += costs_.seconds(layer, tp, sequences);
          extend(last + 1, ranks - tp * dp, sum + seconds, std::max(slowest, seconds), std::max(widest, dp));
        }
      }
    }
  }

  const SomeCosts& costs_;
  const MeshProblem& problem_;
  std::int64_t replicas_;
  double best_ = 0.0;
};

MeshProblem small_problem() {
  return {.layers = 5,
          .ranks = 8,
          .global_batch = 32,
          .micro_batch = 1,
          .tensor_sizes = {1, 2, 4},
          .memory = Bytes(1'000'000)};
}

TEST(MeshPlans, AreTheBestOfAll) {
  const MeshProblem problem = small_problem();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const SomeCosts costs(seed, problem.layers);
    const std::vector<MeshPlan> plans =
        mesh_plans(problem, [&](std::int64_t tp, std::int64_t sequences) { return costs.of(tp, sequences); });
    ASSERT_FALSE(plans.empty());
    double best = std::numeric_limits<double>::infinity();
    for (std::int64_t replicas = 1; replicas <= 8; replicas *= 2) {
      best = std::min(best, AllPlans(costs, problem, replicas).best());
    }
    EXPECT_NEAR(plans.front().seconds, best, 1e-9) << seed;
    for (const MeshPlan& plan : plans) {
      std::int64_t ranks = 0, layers = 0;
      for (const StageMesh& stage : plan.stages) {
        ranks += stage.ranks();
        layers += stage.layers;
      }
      EXPECT_EQ(ranks, problem.ranks);
      EXPECT_EQ(layers, problem.layers);
    }
  }
}

TEST(MeshPlans, FitIntoMemory) {
  MeshProblem problem = small_problem();
  const SomeCosts costs(1, problem.layers);
  const auto costs_of = [&](std::int64_t tp, std::int64_t sequences) { return costs.of(tp, sequences); };
  problem.memory = Bytes(16);  // a layer on one rank, four on four
  for (const MeshPlan& plan : mesh_plans(problem, costs_of)) {
    for (const StageMesh& stage : plan.stages) EXPECT_LE(stage.layers, stage.tp);
  }
  problem.memory = Bytes(3);  // less than a layer on four
  EXPECT_THAT(mesh_plans(problem, costs_of), IsEmpty());
}

TEST(MeshPlans, AreWrittenAsTheKeyHasThem) {
  EXPECT_EQ(to_setting({{.tp = 2, .dp = 1, .layers = 3}, {.tp = 1, .dp = 4, .layers = 5}}),
            "[{layers: 3, tp: 2, dp: 1}, {layers: 5, tp: 1, dp: 4}]");
}

}  // namespace
}  // namespace ringwright::planning::mesh_plans_test
