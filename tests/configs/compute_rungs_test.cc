// The compute model in a report: its name, the origin of its constants, and the extrapolated kernels.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::compute_rungs_test {
namespace {

constexpr std::string_view kJob =
    "version: 1\nname: t\nmodel: {preset: gpt2-1.5b, seq_length: 1024}\ntraining: {global_batch: 8, micro_batch: 1}\n"
    "parallel: {dp: auto}\ncluster: {nodes: 1, node: {preset: dgx-a100}, fabric: {type: single_node}}\n";

StepFacts facts_with(const std::vector<std::string>& overrides) {
  const Scenario scenario = load(kJob, overrides);
  const auto simulation = assemble(scenario);
  return simulate(scenario, *simulation).report->facts;
}

StepFacts facts_of(const std::string& compute) { return facts_with({"compute.model=" + compute}); }

TEST(ComputeRungs, MeasuredKernelsAreUsedUnlessAShareOfThePeakIsGiven) {
  EXPECT_EQ(facts_with({}).engine.compute, "calibrated");
  EXPECT_EQ(facts_with({"compute.gemm_efficiency=60%"}).engine.compute, "roofline");
  EXPECT_EQ(facts_with({"compute.host_issue=9us"}).engine.compute, "calibrated");
}

TEST(ComputeRungs, AGpuThatNobodyMeasuredIsARoofline) {
  const std::string job =
      std::string(kJob.substr(0, kJob.find("cluster:"))) +
      "cluster: {nodes: 1, node: {gpus: 8, gpu: {peak: {bf16: 500TFLOPS, fp32: 50TFLOPS}, memory: 80GiB, "
      "memory_bandwidth: 2TB/s, sms: 100}, nvlink: {kind: nvswitch, bandwidth: 300GB/s, latency: 1us}}, "
      "fabric: {type: single_node}}\n";
  const Scenario scenario = load(job);
  const auto simulation = assemble(scenario);
  EXPECT_EQ(simulate(scenario, *simulation).report->facts.engine.compute, "roofline");
}

TEST(ComputeRungs, TheReportNamesTheRungAndTheEvidenceOfItsConstants) {
  const StepFacts calibrated = facts_of("calibrated");
  EXPECT_EQ(calibrated.engine.compute, "calibrated");
  const auto profile = std::ranges::find(calibrated.evidence, "kernel profile", &InputEvidence::input);
  ASSERT_NE(profile, calibrated.evidence.end());
  EXPECT_EQ(profile->level, Evidence::kCalibrated);
  const StepFacts roofline = facts_of("roofline");
  EXPECT_EQ(std::ranges::find(roofline.evidence, "kernel profile", &InputEvidence::input), roofline.evidence.end());
}

TEST(ComputeRungs, KernelsBeyondTheMeasuredSizesAreListed) {
  // No table of an A100 module has fused attention.
  const StepFacts facts = facts_of("calibrated");
  const auto warning = std::ranges::find(facts.warnings, "W143", &ReportWarning::code);
  ASSERT_NE(warning, facts.warnings.end());
  EXPECT_THAT(warning->text, testing::HasSubstr("attention"));
  const StepFacts roofline = facts_of("roofline");
  EXPECT_EQ(std::ranges::find(roofline.warnings, "W143", &ReportWarning::code), roofline.warnings.end());
}

}  // namespace
}  // namespace ringwright::configs::compute_rungs_test
