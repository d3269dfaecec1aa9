// The output layer and the loss of the tokens whose output is predicted.
#include "workload/kernels/edge_kernels.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::edge_kernels_test {
namespace {

constexpr double kHidden = 1024.0;
constexpr double kVocabulary = 30592.0;  // padded to a multiple of 128
constexpr double kAll = 2.0 * 512.0;
constexpr double kPredicted = 154.0;  // 15 % of them, rounded

JobText job_of(const std::string& training, const std::string& parallel = "", std::int64_t ranks = 1) {
  return JobText("model: {preset: bert-large}\ntraining: {global_batch: 2, micro_batch: 2" + training +
                     "}\nparallel: {" + parallel + "}\n",
                 ranks);
}

KernelContext context_of(const std::string& training) {
  const JobText job = job_of(training);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

std::vector<Kernel> kernels(LayerSection section, const std::string& training) {
  return kernels_of(section, context_of(training));
}

const std::string kMasked = ", cross_entropy: fused, predicted_tokens: 0.15";

TEST(EdgeKernels, LogitsAndLossAreOfPredictedTokensAlone) {
  const std::vector<Kernel> logits = kernels(LayerSection::kLogits, kMasked);
  ASSERT_EQ(logits.size(), 2U);
  EXPECT_EQ(logits[0].bytes.count(), 2.0 * 2.0 * kPredicted * kHidden);  // gathered
  EXPECT_EQ(logits[1].flops.count(), 2.0 * kPredicted * kHidden * kVocabulary);
  EXPECT_EQ(kernels(LayerSection::kLogitsWgrad, kMasked).front().k, kPredicted);
  EXPECT_EQ(kernels(LayerSection::kLossMax, kMasked).front().bytes.count(), 2.0 * kPredicted * kVocabulary);
  // The gradient of all tokens is cleared, and that of the predicted ones written into it.
  const std::vector<Kernel> dgrad = kernels(LayerSection::kLogitsDgrad, kMasked);
  ASSERT_EQ(dgrad.size(), 3U);
  EXPECT_EQ(dgrad[0].m, kPredicted);
  EXPECT_EQ(dgrad[1].bytes.count(), 2.0 * kAll * kHidden);
  EXPECT_EQ(dgrad[2].bytes.count(), 2.0 * 2.0 * kPredicted * kHidden);
  // The final norm is of all tokens.
  EXPECT_EQ(kernels(LayerSection::kFinalNorm, kMasked).front().bytes.count(), 2.0 * 2.0 * kAll * kHidden);
  EXPECT_EQ(kernels(LayerSection::kLogits, ", predicted_tokens: 1").size(), 1U);
  EXPECT_EQ(kernels(LayerSection::kLogitsDgrad, "").size(), 1U);
}

TEST(EdgeKernels, LogitsOfPredictedTokensNeedLessMemory) {
  const auto head = [](const std::string& training) {
    const KernelContext context = context_of(", cross_entropy: fused" + training);
    return static_cast<double>((head_activations(context) + head_workspace(context)).count());
  };
  EXPECT_EQ(head(""), 2.0 * (2.0 * kAll * kHidden + kAll * kVocabulary));
  EXPECT_EQ(head(", predicted_tokens: 0.15"), 2.0 * ((kAll + kPredicted) * kHidden + kPredicted * kVocabulary));
}

TEST(EdgeKernels, ModelFlopsCountTheLogitsOfPredictedTokens) {
  const StepPlan all = job_of("").compact_plan();
  const StepPlan some = job_of(", predicted_tokens: 0.25").compact_plan();
  const double left_out = 0.75 * 3.0 * 2.0 * kAll * kHidden * 30522.0;
  EXPECT_NEAR((all.model_flops - some.model_flops).count(), left_out, 1e-9 * left_out);
  EXPECT_NEAR((all.model_flops_full_attention - some.model_flops_full_attention).count(), left_out, 1e-9 * left_out);
}

// Maxima, targets and sums of a split vocabulary: 4 bytes for each predicted token.
TEST(EdgeKernels, RanksReduceTheLossOfPredictedTokens) {
  const auto calls_of = [](const std::string& training, double tokens) {
    const StepPlan plan = job_of(training, "tp: 2", 2).plan();
    return std::ranges::count(plan.graph.collectives, Bytes(std::llround(4.0 * tokens)), &CollectiveSpec::bytes);
  };
  EXPECT_EQ(calls_of("", kAll), 1);  // equal calls are listed once
  EXPECT_EQ(calls_of(", predicted_tokens: 0.15", kPredicted), 1);
  EXPECT_EQ(calls_of(", predicted_tokens: 0.15", kAll), 0);
}

TEST(EdgeKernels, AShareIsAboveZeroAndAtMostOne) {
  EXPECT_THAT(job_of(", predicted_tokens: 0").problems(), testing::SizeIs(1));
  EXPECT_THAT(job_of(", predicted_tokens: 1.5").problems(), testing::SizeIs(1));
}

}  // namespace
}  // namespace ringwright::workload::edge_kernels_test
