#include "configs/simulation/planner.h"

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::planner_test {
namespace {

std::string text_of(const std::string& parallel, const std::string& network, const std::string& collectives) {
  return std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + parallel +
         "}\ncluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: "
         "{ports: "
         "4}, spine: {ports: 16}}}\nsimulate: {steps: 3, warmup: 1, network: " +
         network + "}\ncollectives: {model: " + collectives + "}\n";
}

Report report_of(const Scenario& scenario) {
  const Outcome outcome = simulate(scenario, *assemble(scenario));
  if (!outcome.report) throw std::runtime_error("did not finish");
  return *outcome.report;
}

void expect_as_run(Planner& planner, const Scenario& scenario) {
  const auto prediction = planner.predict(scenario);
  ASSERT_TRUE(prediction.has_value()) << render(prediction.error());
  ASSERT_TRUE(prediction->has_value());
  const Report report = report_of(scenario);
  EXPECT_EQ((*prediction)->step_time.mean, report.step_time.mean);
  EXPECT_EQ((*prediction)->step_time.maximum, report.step_time.maximum);
  EXPECT_EQ((*prediction)->everywhere.computing, report.everywhere.computing);
  EXPECT_EQ((*prediction)->everywhere.idle, report.everywhere.idle);
  EXPECT_EQ((*prediction)->model_flop_utilisation, report.model_flop_utilisation);
  EXPECT_EQ((*prediction)->tokens_per_second_per_gpu, report.tokens_per_second_per_gpu);
}

TEST(Planner, PredictsWhatARunReports) {
  for (const char* network : {"alpha_beta", "flow"}) {
    for (const char* collectives : {"closed_form", "steps"}) {
      const Scenario scenario = load(text_of("tp: 4, pp: 2, dp: auto", network, collectives));
      Planner planner(scenario);
      expect_as_run(planner, scenario);
    }
  }
}

TEST(Planner, TakesOneConfigurationAfterAnotherOnOneMachine) {
  const Scenario first = load(text_of("tp: 8, pp: 2, dp: auto", "alpha_beta", "closed_form"));
  Planner planner(first);
  for (const char* parallel : {"tp: 8, pp: 2, dp: auto", "tp: 4, pp: 4, dp: auto, overlap_p2p_comm: true",
                               "tp: 2, pp: 4, dp: auto, schedule: zb-h1", "tp: 8, pp: 2, dp: auto"}) {
    expect_as_run(planner, load(text_of(parallel, "alpha_beta", "closed_form")));
  }
}

TEST(Planner, AChangedJobIsAnotherConfiguration) {
  Scenario scenario = load(text_of("tp: 8, pp: 2, dp: auto", "alpha_beta", "closed_form"));
  Planner planner(scenario);
  const Duration before = (*planner.predict(scenario))->step_time.mean;
  scenario.job.training.recompute = workload::Recompute::kFull;
  expect_as_run(planner, scenario);
  EXPECT_GT((*planner.predict(scenario))->step_time.mean, before);
}

// Steps on the same ranks take over groups, their layouts and overheads of calls; those on others do not.
TEST(Planner, TakesOverGroupsFromTheStepBefore) {
  Scenario scenario = load(text_of("tp: 4, pp: 4, dp: auto", "alpha_beta", "closed_form, overhead: kernels"));
  Planner planner(scenario);
  for (const std::string parallel :
       {"tp: 4, pp: 4", "tp: 4, pp: 4, zero: {stage: 1}", "tp: 4, pp: 4, schedule: interleaved-1f1b, virtual_stages: 2",
        "tp: 2, pp: 8", "tp: 4, pp: 4, zero: {stage: 3}", "tp: 4, pp: 4, overlap_p2p_comm: true", "tp: 4, pp: 4"}) {
    const Scenario changed = load(text_of(parallel + ", dp: auto", "alpha_beta", "closed_form, overhead: kernels"));
    Planner fresh(changed);
    const auto expected = fresh.predict(changed);
    const auto found = planner.predict(changed);
    ASSERT_TRUE(expected.has_value() && found.has_value()) << parallel;
    EXPECT_EQ((*found)->step_time.mean, (*expected)->step_time.mean) << parallel;
    EXPECT_EQ((*found)->everywhere.computing, (*expected)->everywhere.computing) << parallel;
    EXPECT_EQ((*found)->everywhere.idle, (*expected)->everywhere.idle) << parallel;
  }
}

// A refused configuration takes the network with it; the next one builds another.
TEST(Planner, GoesOnAfterAMistake) {
  const Scenario good = load(text_of("tp: 8, pp: 2, dp: auto", "alpha_beta", "closed_form"));
  const Scenario bad = load(text_of("tp: 8, pp: 2, dp: auto, zero: {stage: 1}", "alpha_beta",
                                    "closed_form, dp: {algorithm: double_tree}"));  // a tree does not gather
  Planner planner(good);
  EXPECT_FALSE(planner.predict(bad).has_value());
  expect_as_run(planner, good);
}

}  // namespace
}  // namespace ringwright::configs::planner_test
