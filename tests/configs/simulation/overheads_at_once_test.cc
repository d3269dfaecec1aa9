#include "configs/simulation/overheads_at_once.h"

#include <gtest/gtest.h>

#include "configs/simulation/collective_choices.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"

namespace ringwright::configs::overheads_at_once_test {
namespace {

// Two exchanges of tokens over four hosts, in fp8 and in bf16, and reductions.
constexpr const char* kJob = R"(
model: { preset: deepseek-v3, num_layers: 4 }
training: { global_batch: 128, micro_batch: 2 }
parallel: { ep: 32, moe_fp8_dispatch: true }
cluster: { nodes: 4, node: { preset: dgx-h100 } }
)";

Duration step(const Scenario& scenario, KnownOverheads* overheads) {
  const auto outcome = simulate(scenario, FoldMode::kFold, {.overheads = overheads});
  EXPECT_TRUE(outcome && outcome->report);
  return outcome->report->step_time.mean;
}

TEST(OverheadsAtOnce, AreThoseThatARunFinds) {
  const auto scenario = load_scenario_text("job.yaml", kJob);
  ASSERT_TRUE(scenario.has_value());
  const auto simulation = Simulation::assemble(*scenario, FoldMode::kFold);
  ASSERT_TRUE(simulation.has_value());
  const CollectiveChoices choices(*scenario, (*simulation)->plan().graph, nullptr);
  KnownOverheads known;
  find_overheads({.scenario = *scenario,
                  .graph = (*simulation)->plan().graph,
                  .network = (*simulation)->network(),
                  .kernels = choices.kernels()},
                 known);
  EXPECT_GE(known.size(), 2U);
  KnownOverheads of_run;
  const Duration alone = step(*scenario, &of_run);
  EXPECT_EQ(step(*scenario, &known), alone);
  EXPECT_EQ(step(*scenario, nullptr), alone);
  EXPECT_EQ(known.size(), of_run.size());  // none that the run does not ask for
}

}  // namespace
}  // namespace ringwright::configs::overheads_at_once_test
