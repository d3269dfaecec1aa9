// Steps that wait for samples: as long as the longer of their own time and that of their batch.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/report/step_parts.h"
#include "tests/configs/played.h"

namespace ringwright::configs::data_pipeline_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kJob =
    "model: {num_layers: 4, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 4096, vocab_size: 1024, "
    "seq_length: 512}\n"
    "training: {global_batch: 64}\n"
    "parallel: {tp: 2, pp: 2, dp: auto}\n"
    "cluster: {nodes: 2, node: {preset: dgx-h100}}\n"
    "simulate: {steps: 3, warmup: 1}\n";

std::string with(const std::string& pipeline) {
  return fmt::format("{}data_pipeline: {{{}}}\n", kJob, pipeline);
}

Report report_on(const std::string& text, FoldMode fold = FoldMode::kFold) {
  return *simulate(load(text), fold)->report;
}

Report plain() { return report_on(std::string(kJob)); }

// 64 samples x 1 s / (2 hosts x 16 workers) = 2 s, far longer than the step.
TEST(DataPipelines, ASlowReaderSetsTheStepTime) {
  const Report report = report_on(with("cpu_per_sample: 1s, local_workers: 16"));
  const Report without = plain();
  EXPECT_EQ(report.step_time.mean, 2_s);
  EXPECT_EQ(report.step_time.minimum, 2_s);
  EXPECT_EQ(report.facts.data->stall, 2_s - without.step_time.mean);
  EXPECT_EQ(report.everywhere.computing, without.everywhere.computing);
  EXPECT_EQ(report.everywhere.idle, without.everywhere.idle);
  EXPECT_EQ(report.everywhere.data, report.facts.data->stall);
  EXPECT_EQ(report.everywhere.total, 2_s);
  EXPECT_THAT(render_text(report, {}), HasSubstr("waiting for data"));
}

TEST(DataPipelines, AFastReaderChangesNothing) {
  const Report report = report_on(with("cpu_per_sample: 1us, local_workers: 16"));
  EXPECT_EQ(report.step_time.mean, plain().step_time.mean);
  EXPECT_EQ(report.facts.data->stall, Duration());
  EXPECT_THAT(render_text(report, {}), Not(HasSubstr("waiting for data")));
}

// The stall of a step is 1 - R_in / R_gpu of it (GoldMiner): rates follow from the run without a pipeline.
TEST(DataPipelines, TheStallIsTheMissingShareOfTheRate) {
  const Duration step = plain().step_time.mean;
  const double needed = 64.0 / to_seconds(step);
  for (const int workers : {1, 2, 5}) {
    const Report report =
        report_on(with(fmt::format("cpu_per_sample: {}us, local_workers: {}", step.count() / 1'000'000, workers)));
    const double share = ratio(report.facts.data->stall, report.step_time.mean);
    EXPECT_NEAR(share, 1.0 - report.facts.data->samples_per_second / needed, 1e-9) << workers;
  }
}

TEST(DataPipelines, FoldedAndUnfoldedStepsWaitAsLong) {
  const std::string text = with("cpu_per_sample: 20ms, local_workers: 16");
  const Report folded = report_on(text);
  const Report whole = report_on(text, FoldMode::kNoFold);
  EXPECT_EQ(folded.step_time.mean, whole.step_time.mean);
  EXPECT_EQ(folded.everywhere.data, whole.everywhere.data);
  EXPECT_EQ(folded.everywhere.idle, whole.everywhere.idle);
}

TEST(DataPipelines, PartsOfAStepAddUpToIt) {
  const Report report = report_on(with("cpu_per_sample: 1s, local_workers: 16"));
  Duration sum;
  for (const StepPart& part : parts_of(report.everywhere, report.facts.kernel_times, report.step_time.mean))
    sum += part.time;
  EXPECT_EQ(sum, report.step_time.mean);
}

TEST(DataPipelines, MistakesAreReportedWithTheirPlace) {
  const auto refused = [](const std::string& pipeline) { return refusal_of(with(pipeline)); };
  EXPECT_THAT(refused("local_workers: 4"), HasSubstr("data_pipeline.cpu_per_sample"));
  EXPECT_THAT(refused("cpu_per_sample: 1ms, local_workers: 0"), HasSubstr("E545"));
  EXPECT_THAT(refused("cpu_per_sample: 1ms, remote_workers: 4"), HasSubstr("E546"));
  EXPECT_THAT(refused("cpu_per_sample: 1ms, remote_workers: 4, network: 10Gbps"), HasSubstr("E546"));
  EXPECT_THAT(refused("cpu_per_sample: 1000h, local_workers: 1"), HasSubstr("E547"));
  const std::string idle = refused("cpu_per_sample: 8ms, stored_per_sample: 1MB, storage: {per_host: 0GB/s}");
  EXPECT_THAT(idle, testing::AllOf(HasSubstr("E106"), testing::Not(HasSubstr("E547"))));
  EXPECT_THAT(refused("cpu_per_sample: 1ms, local_workers: -1"), HasSubstr("local_workers"));
  EXPECT_THAT(refused("cpu_per_sample: 1ms, workers: 4"), HasSubstr("local_workers"));
}

TEST(DataPipelines, WhatHasNoEffectIsListed) {
  const Scenario scenario =
      load(with("cpu_per_sample: 1ms, network: 10Gbps, bytes_per_sample: 1MB, stored_per_sample: 1MB"));
  std::string ignored;
  for (const IgnoredKey& key : scenario.document.log().ignored()) ignored += key.path + " ";
  for (const char* name : {"network", "bytes_per_sample", "stored_per_sample"})
    EXPECT_THAT(ignored, HasSubstr(std::string("data_pipeline.") + name));
  const Scenario unstored = load(with("cpu_per_sample: 1ms, storage: {total: 1GB/s}"));
  EXPECT_EQ(unstored.document.log().ignored().size(), scenario.document.log().ignored().size() - 2);
}

TEST(DataPipelines, ElasticWorkersEndTheStall) {
  const std::string slow = "cpu_per_sample: 1s, local_workers: 1, network: 100Gbps, bytes_per_sample: 1kB";
  const Report report = report_on(with(slow + ", elastic_workers: 1000000"));
  EXPECT_EQ(report.step_time.mean, plain().step_time.mean);
  const double needed = 64.0 / to_seconds(plain().step_time.mean);
  EXPECT_NEAR(static_cast<double>(report.facts.data->elastic_workers), needed - 2.0, 1.0);  // 2 hosts, 1 a second each
  EXPECT_THAT(render_text(report, {}), HasSubstr("elastic workers"));
  EXPECT_EQ(report_on(with(slow + ", elastic_workers: 6")).step_time.mean, 8_s);  // 64 samples of 8 workers
}

// 64 x 1 s / 32 workers = 2 s, every fourth batch 6 s: (3 x 2 + 6) / 4 = 3 s, whatever the queue.
TEST(DataPipelines, SlowBatchesLengthenTheMeanStep) {
  const Report report =
      report_on(with("cpu_per_sample: 1s, local_workers: 16, slow_batches: {every: 4, factor: 3}, prefetch: 8"));
  EXPECT_EQ(report.step_time.mean, 3_s);
}

}  // namespace
}  // namespace ringwright::configs::data_pipeline_test
