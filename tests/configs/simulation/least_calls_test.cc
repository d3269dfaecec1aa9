#include "configs/simulation/least_calls.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "configs/simulation/plan_calls.h"
#include "configs/simulation/simulation.h"
#include "configs/simulation/step_plan.h"
#include "tests/configs/played.h"

namespace ringwright::configs::least_calls_test {
namespace {

Scenario scenario_of(const std::string& parallel, const std::string& collectives) {
  return load(std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + parallel +
              "}\ncluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: "
              "{ports: 4}, spine: {ports: 16}}}\nsimulate: {network: alpha_beta}\ncollectives: {model: " +
              collectives + ", overhead: kernels}\n");
}

// Of every call of a plan the time is at most what its run takes for it, among the GPUs of one host just that of the
// fastest group.
TEST(LeastCalls, AreNotAboveTheTimesOfAnyGroup) {
  int inside = 0, between = 0;
  for (const char* const parallel : {"tp: 4, pp: 2", "tp: 8, pp: 4, zero: {stage: 1}", "tp: 2, cp: 2",
                                     "tp: 1, pp: 1, zero: {overlap_grad_reduce: false}", "tp: 4, zero: {stage: 3}"}) {
    const Scenario scenario = scenario_of(parallel, "closed_form");
    KnownOverheads known(OverheadAccuracy::kInterpolated);
    LeastCalls calls(scenario, known);
    const workload::LeastCallTime least = calls.of(scenario.job);
    ASSERT_TRUE(least) << parallel;
    const auto simulation =
        Simulation::assemble(scenario, plan_step(scenario), scenario.cluster.topology->build(), FoldMode::kTimesOnly,
                             {.bottlenecks = nullptr, .folds = {}, .overheads = &known, .folding = std::nullopt});
    ASSERT_TRUE(simulation.has_value());
    std::map<std::tuple<DimensionId, CollectiveKind, Bytes>, Duration> quickest_inside;
    for_each_call((*simulation)->plan().graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
      const Duration bound = least(call.dimension, {.kind = call.kind, .bytes = call.bytes});
      const Duration time = (*simulation)->collective_time()->time(call);
      EXPECT_GT(bound, Duration()) << parallel;
      EXPECT_LE(bound, time) << parallel;
      if (call.layout->host_count() > 1) {
        ++between;
        return;
      }
      const auto [fastest, is_new] = quickest_inside.try_emplace({call.dimension, call.kind, call.bytes}, time);
      fastest->second = std::min(fastest->second, time);
    });
    for (const auto& [key, time] : quickest_inside) {
      const auto& [dimension, kind, bytes] = key;
      EXPECT_EQ(least(dimension, {.kind = kind, .bytes = bytes}), time) << parallel;
      ++inside;
    }
  }
  EXPECT_GT(inside, 4);
  EXPECT_GT(between, 4);
}

TEST(LeastCalls, AreUnknownWhereCallsAreMessages) {
  KnownOverheads known;
  const Scenario steps = scenario_of("tp: 4, pp: 2", "steps");
  EXPECT_FALSE(LeastCalls(steps, known).of(steps.job));
}

}  // namespace
}  // namespace ringwright::configs::least_calls_test
