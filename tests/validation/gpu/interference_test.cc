// Interference tables: read, fitted and scored. Nobody has measured one yet: the rows here are made by the model
// itself, with constants of their own, so that the fit must find them again.
#include "validation/gpu/interference_model.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/gpu_preset.h"
#include "tests/support/own_folder.h"
#include "validation/builtin.h"
#include "validation/gpu/interference_table.h"

namespace ringwright::validation::interference_test {
namespace {

constexpr const char* kHead =
    "# gpu: h200-sxm-141gb\n# source: a test\n"
    "family,dtype,m,n,k,flops,bytes,blocks,sms,compute_alone_us,compute_together_us,blocks_alone_GB_per_s,"
    "blocks_together_GB_per_s\n";

workload::GpuSpec h200() { return configs::load_gpu("h200-sxm-141gb")->gpu; }

constexpr InterferenceConstants kTruth{.copy_rate = Bandwidth(40e9),
                                       .reduce_rate = Bandwidth(30e9),
                                       .bytes_per_copied = 2.2,
                                       .bytes_per_reduced = 3.4,
                                       .streaming_share = 0.62};

// GEMMs and copies concurrent with both kinds of copy blocks, as the suite measures them, made by the model with
// kTruth.
std::string made_table() {
  const workload::GpuSpec gpu = h200();
  std::string text = kHead;
  for (const int size : {2048, 4096, 8192, 0}) {
    for (const bool adds : {false, true}) {
      for (const int sms : {1, 2, 4, 8, 16, 24, 32, 64}) {
        MeasuredPair pair{.adds = adds, .sms = sms, .alone_seconds = 1e-3, .blocks_alone = {}, .blocks_together = {}};
        pair.kernel = size > 0
                          ? Kernel{.m = size,
                                   .n = size,
                                   .k = size,
                                   .flops = Flops(2.0 * size * size * size),
                                   .bytes = Bytes(6LL * size * size)}
                          : Kernel{.family = KernelFamily::kCopy, .type = DataType::kFp32, .bytes = Bytes(512 << 20)};
        const PairPrediction made = predict(pair, gpu, kTruth);
        text += fmt::format("{},{},{},{},{},{},{},{},{},1000,{:.6f},{:.6f},{:.6f}\n", size > 0 ? "gemm" : "copy",
                            size > 0 ? "bf16" : "fp32", size, size, size, pair.kernel.flops.count(),
                            pair.kernel.bytes.count(), adds ? "reduce" : "copy", sms, made.together_seconds * 1e6,
                            made.blocks_alone.count() * 1e-9, made.blocks_together.count() * 1e-9);
      }
    }
  }
  return text;
}

TEST(InterferenceTable, ReadsPairs) {
  const auto table = parse_interference_table(
      "t.csv", std::string(kHead) + "gemm,bf16,4096,4096,4096,137438953472,100663296,reduce,16,200,230,450,400\n");
  ASSERT_TRUE(table) << render(table.error());
  const MeasuredPair& pair = table->rows.front();
  EXPECT_TRUE(pair.adds);
  EXPECT_EQ(pair.sms, 16);
  EXPECT_DOUBLE_EQ(pair.together_seconds, 230e-6);
  EXPECT_DOUBLE_EQ(pair.blocks_together.count(), 400e9);
  EXPECT_EQ(pair_label(pair), "gemm bf16 4096 x 4096 x 4096 next to reduce on 16 SMs");
}

TEST(InterferenceTable, MistakesAreReportedWithTheirPlace) {
  const auto table = parse_interference_table(
      "t.csv",
      std::string(kHead) + "gemm,bf16,,,,1,1,reduce,0,200,230,450,400\nnorm,bf16,,,,0,1,push,1,200,x,450,400\n");
  ASSERT_FALSE(table);
  const std::string problems = render(table.error());
  EXPECT_THAT(problems, testing::HasSubstr("t.csv:4:1: error[E163]: a kernel of family gemm needs m, n and k"));
  EXPECT_THAT(problems, testing::HasSubstr("t.csv:4:25: error[E163]: copy blocks hold at least one multiprocessor"));
  EXPECT_THAT(problems, testing::HasSubstr("blocks 'push' is unknown"));
  EXPECT_THAT(problems, testing::HasSubstr("compute_together_us is 'x'"));
  EXPECT_FALSE(parse_interference_table("t.csv", kHead));
}

TEST(InterferenceModel, AGemmSlowsByTheMultiprocessorsThatItLoses) {
  workload::GpuSpec gpu = h200();
  const MeasuredPair pair{.kernel = {.m = 8192, .n = 8192, .k = 8192, .flops = Flops(2.0 * 8192.0 * 8192.0 * 8192.0),
                                     .bytes = Bytes(6LL * 8192 * 8192)},
                          .sms = 33, .alone_seconds = 1e-3, .blocks_alone = {}, .blocks_together = {}};
  // A quarter of 132: a third longer, up to what a wave that is not full takes.
  EXPECT_NEAR(predict(pair, gpu, {}).together_seconds, 1e-3 * 4.0 / 3.0, 0.06e-3);
}

TEST(InterferenceModel, CopyBlocksAndAStreamShareMemory) {
  const workload::GpuSpec gpu = h200();
  const MeasuredPair pair{.kernel = {.family = KernelFamily::kCopy, .type = DataType::kFp32, .bytes = Bytes(1 << 30)},
                          .sms = 32, .alone_seconds = 0.25e-3, .blocks_alone = {}, .blocks_together = {}};
  const PairPrediction prediction = predict(pair, gpu, kTruth);
  EXPECT_GT(prediction.together_seconds, 1.2 * pair.alone_seconds);
  EXPECT_LT(prediction.blocks_together, prediction.blocks_alone);
}

TEST(InterferenceModel, TheFitFindsTheConstantsThatMadeTheRows) {
  const auto table = parse_interference_table("t.csv", made_table());
  ASSERT_TRUE(table) << render(table.error());
  const InterferenceFit fit = fit_interference(table->rows, h200());
  EXPECT_GT(fit.error_at_start, 0.1);
  EXPECT_LT(fit.error, 0.02);
  EXPECT_NEAR(fit.constants.copy_rate.count(), 40e9, 2e9);
  EXPECT_NEAR(fit.constants.reduce_rate.count(), 30e9, 1.5e9);
  EXPECT_NEAR(fit.constants.bytes_per_copied, 2.2, 0.15);
}

TEST(ValidateInterference, ScoresPairsThatWereHeldOut) {
  const std::string path = test::own_folder() + "interference.csv";
  std::ofstream(path) << made_table();
  const auto outcome = validate_interference({.files = {path}, .wants_page = true});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_TRUE(outcome->passed);
  EXPECT_THAT(outcome->text, testing::HasSubstr("  new  "));
  EXPECT_THAT(outcome->json, testing::HasSubstr("\"unseen\": {\"kernel\": {\"count\": "));
  EXPECT_THAT(outcome->markdown, testing::HasSubstr("interference-h200-sxm-141gb.svg"));
  ASSERT_EQ(outcome->plots.size(), 1U);
  EXPECT_THAT(outcome->plots.front().text, testing::HasSubstr("<svg"));
  const auto strict = validate_interference({.files = {path}, .threshold = 0.0});
  EXPECT_FALSE(strict->passed);
}

TEST(CalibrateInterference, WritesAProfileThatAScenarioReads) {
  const std::string path = test::own_folder() + "interference.csv";
  std::ofstream(path) << made_table();
  const auto outcome = calibrate_interference({.files = {path}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_THAT(outcome->profile, testing::HasSubstr("model: share"));
  const std::string text = outcome->profile +
                           "model: {preset: gpt2-1.5b}\ntraining: {global_batch: 16}\nparallel: {tp: 1}\n"
                           "cluster: {nodes: 1, node: {preset: dgx-h100}}\n";
  const auto scenario = configs::load_scenario_text("profile.yaml", text);
  ASSERT_TRUE(scenario) << render(scenario.error()) << text;
  EXPECT_TRUE(scenario->interference.counts);
  EXPECT_NEAR(scenario->interference.bytes_per_copied, 2.2, 0.2);
  EXPECT_FALSE(calibrate_interference({.files = {path, path}}));
}

}  // namespace
}  // namespace ringwright::validation::interference_test
