// The shipped tables of measured kernels against the shipped profiles, held at the errors that were reached.
#include "validation/builtin.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/kernels/kernel_scores.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::kernels_test {
namespace {

const std::vector<GpuScore>& shipped_scores() {
  static const std::vector<GpuScore> scores = score_kernels(files_in(shipped_folder("kernels"), ".csv"), {}).value();
  return scores;
}

struct Guard {
  const char* gpu;
  const char* family;
  double median;  // of shapes that no fit has used
  double p95;
};
constexpr Guard kGuards[] = {
    {"a100-pcie-80gb", "gemm bf16", 0.03, 0.16},
    {"a100-pcie-80gb", "grouped gemm bf16", 0.04, 0.13},
    {"a100-pcie-80gb", "attention forward", 0.05, 0.15},
    {"a100-pcie-80gb", "attention backward", 0.05, 0.25},
    {"a100-sxm4-80gb", "copy", 0.06, 0.25},
    {"b200-sxm-192gb", "gemm bf16", 0.072, 0.34},
    {"b200-sxm-192gb", "grouped gemm bf16", 0.085, 0.29},
    {"b200-sxm-192gb", "attention forward", 0.09, 0.47},  // p95: 131072 tokens, heads of 192, an older cuDNN
    {"b200-sxm-192gb", "attention backward", 0.06, 0.15},
    {"b300-sxm-288gb", "gemm bf16", 0.03, 0.40},  // p95: a scan's best
    {"b300-sxm-288gb", "gemm fp8", 0.03, 0.12},
    {"gb300", "gemm bf16", 0.085, 0.34},
    {"h100-sxm5-80gb", "gemm bf16", 0.03, 0.03},
    {"h100-sxm5-80gb", "gemm fp8", 0.07, 0.20},
    {"h100-sxm5-80gb", "attention forward", 0.07, 0.20},
    {"h800-sxm-80gb", "gemm fp8", 0.06, 0.13},
    {"h800-sxm-80gb", "grouped gemm fp8", 0.075, 0.16},
};

TEST(Kernels, TheErrorsReachedOnNewShapesHold) {
  for (const Guard& guard : kGuards) {
    const auto score = std::ranges::find(shipped_scores(), guard.gpu, &GpuScore::gpu);
    ASSERT_NE(score, shipped_scores().end()) << guard.gpu;
    const auto family = std::ranges::find(score->families, guard.family, &FamilyScore::family);
    ASSERT_NE(family, score->families.end()) << guard.gpu << " " << guard.family;
    EXPECT_GE(family->unseen.count, 3U) << guard.gpu << " " << guard.family;
    EXPECT_LE(family->unseen.median_abs, guard.median) << guard.gpu << " " << guard.family;
    EXPECT_LE(family->unseen.p95_abs, guard.p95) << guard.gpu << " " << guard.family;
  }
}

TEST(Kernels, NewShapesOfEveryGpuStayWithinEightPercentByMedian) {
  for (const GpuScore& score : shipped_scores()) {
    if (score.unseen.count < 8) continue;
    EXPECT_LE(score.unseen.median_abs, 0.08) << score.gpu;
  }
}

TEST(Kernels, FitsDoNotFavourTheirOwnRows) {
  // New shapes may be worse than fitted ones, but not another kind of thing: within twice the median error.
  for (const GpuScore& score : shipped_scores()) {
    if (score.unseen.count < 30) continue;
    EXPECT_LE(score.unseen.median_abs, 2.0 * score.fitted.median_abs + 0.01) << score.gpu;
  }
}

class KernelFile : public ::testing::Test {
 protected:
  static std::string with_rows(const std::string& name, const std::string& rows) {
    const std::string path = test::own_folder() + name;
    std::ofstream(path) << "# gpu: a100-pcie-80gb\n# source: a test\nfamily,dtype,flops,bytes,time_us\n" << rows;
    return path;
  }
};

TEST_F(KernelFile, AThresholdDecides) {
  // A copy of 10 GB takes about 6 ms at 1.6 TB/s; this table has 12.
  const std::string path = with_rows("slow.csv", "copy,bf16,0,10000000000,12000\n");
  const auto strict = validate_kernels({.files = {path}});
  ASSERT_TRUE(strict) << render(strict.error());
  EXPECT_FALSE(strict->passed);
  EXPECT_THAT(strict->text, testing::HasSubstr("copy 9.313 GiB"));
  EXPECT_TRUE(validate_kernels({.files = {path}, .threshold = 0.6})->passed);
}

TEST_F(KernelFile, OverridesChangeThePrediction) {
  const std::string path = with_rows("override.csv", "copy,bf16,0,1935000000,1000\n");
  // 1935 GB/s of data sheet at 100 % and no gap: exactly 1 ms.
  const auto exact = validate_kernels({.files = {path},
                                       .overrides = {"gpu.kernels.stream.share=100%", "gpu.kernels.stream.gap=0us"},
                                       .threshold = 1e-6});
  ASSERT_TRUE(exact) << render(exact.error());
  EXPECT_TRUE(exact->passed) << exact->text;
}

TEST_F(KernelFile, ProblemsOfAllFilesComeAtOnce) {
  const auto outcome =
      validate_kernels({.files = {with_rows("a.csv", "copy,bf16,0,1,x\n"), with_rows("b.csv", "cpy,bf16,0,1,1\n")}});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().error_count(), 2U);
}

TEST_F(KernelFile, ThePageAndThePlotsNameEveryGpu) {
  const auto outcome = validate_kernels({.files = {with_rows("page.csv", "copy,bf16,0,1000000000,600\n")}});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->markdown, testing::HasSubstr("## a100-pcie-80gb"));
  ASSERT_EQ(outcome->plots.size(), 1U);
  EXPECT_EQ(outcome->plots[0].name, "a100-pcie-80gb.svg");
  EXPECT_THAT(outcome->json, testing::HasSubstr("\"gpu\": \"a100-pcie-80gb\""));
}

TEST_F(KernelFile, CalibrationWritesAProfileThatFits) {
  std::string rows;
  for (int size = 1; size <= 40; ++size) {
    // 2 us and 1 TB/s.
    rows += "copy,bf16,0," + std::to_string(size * 100'000'000LL) + "," + std::to_string(2 + size * 100) + "\n";
  }
  const auto outcome = calibrate_kernels({.files = {with_rows("fit.csv", rows)}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  // 1 of 1.935 TB/s.
  EXPECT_THAT(outcome->profile, testing::ContainsRegex("share: 5[12]\\.[0-9]+%\n"));
  EXPECT_THAT(outcome->text, testing::HasSubstr("shapes held out"));
}

TEST_F(KernelFile, TablesOfTwoGpusAreNotCalibratedTogether) {
  const std::string other = test::own_folder() + "other.csv";
  std::ofstream(other) << "# gpu: mi300x\n# source: a test\nfamily,dtype,flops,bytes,time_us\ncopy,bf16,0,1,1\n";
  const auto outcome = calibrate_kernels({.files = {with_rows("one.csv", "copy,bf16,0,1,1\n"), other}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(render(outcome.error()), testing::HasSubstr("one GPU at a time"));
}

}  // namespace
}  // namespace ringwright::validation::kernels_test
