// Norms, rotation, activations and the loss: the bytes that each implementation reads and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload::pointwise_kernels_test {
namespace {

KernelContext context_of(const std::string& model, const std::string& training) {
  const JobText job("model: {preset: " + model + "}\ntraining: {global_batch: 1" + training + "}\n", 1);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

// Bytes of non-GEMM kernels, for each element of `elements`.
double bytes_each(std::vector<LayerSection> sections, const KernelContext& context, double elements) {
  double bytes = 0.0;
  for (const LayerSection section : sections) {
    for (const Kernel& kernel : kernels_of(section, context)) {
      if (kernel.flops <= Flops(0.0)) bytes += static_cast<double>(kernel.bytes.count());
    }
  }
  return bytes / elements;
}

constexpr double kHidden = 8192.0 * 4096.0;  // of Llama 3 8B: tokens times hidden size
constexpr double kLogits = 8192.0 * 128256.0;

TEST(PointwiseKernels, AFusedNormReadsAndWritesOnceAndAnEagerOneCastsSquaresAveragesScalesCastsAndWeighs) {
  EXPECT_EQ(bytes_each({LayerSection::kMlpNorm}, context_of("llama3-8b", ""), kHidden), 2 + 2);
  // (2 + 4) + (4 + 4) + 4 + (4 + 4) + (4 + 2) + (2 + 2)
  EXPECT_EQ(bytes_each({LayerSection::kMlpNorm}, context_of("llama3-8b", ", pointwise: eager"), kHidden), 36);
}

// Fused 6 bytes and 6 of the residual's gradient. Eager: weight 4, its product 6 and sum 2, cast 6, scale 8, its
// product 12 and sum 4, mean 4, power 8, twice 8, square 12, sum of both 12, cast 6.
TEST(PointwiseKernels, AnEagerNormBackwardIsTheDerivativeOfEachOperator) {
  EXPECT_EQ(bytes_each({LayerSection::kMlpNormBackward}, context_of("llama3-8b", ""), kHidden), 6 + 6);
  EXPECT_EQ(bytes_each({LayerSection::kMlpNormBackward}, context_of("llama3-8b", ", pointwise: eager"), kHidden),
            92 + 6);
}

// PyTorch has kernels for LayerNorm; that of the weights' gradients reads the input and the output's gradient again.
TEST(PointwiseKernels, LayerNormIsOneKernelForwardAndTwoBackwardInPyTorch) {
  const KernelContext eager = context_of("mpt-7b", ", pointwise: eager");
  EXPECT_EQ(kernels_of(LayerSection::kMlpNorm, eager).size(), 1U);
  EXPECT_EQ(kernels_of(LayerSection::kMlpNormBackward, eager).size(), 3U);  // and the residual's gradient
}

// Of 3.5 h columns: silu 2 + 2 and a product 4 + 2 instead of one kernel of 4 + 2.
TEST(PointwiseKernels, EagerSwiGluIsTwoKernels) {
  const double wide = kHidden * 3.5;
  EXPECT_EQ(bytes_each({LayerSection::kMlp}, context_of("llama3-8b", ""), wide), 6);
  EXPECT_EQ(bytes_each({LayerSection::kMlp}, context_of("llama3-8b", ", pointwise: eager"), wide), 10);
}

// With Transformer Engine's fused operators SwiGLU reads 4 and writes 2 in both layouts instead of 2 that a cast reads
// again; its gradient 6 and 4.
TEST(PointwiseKernels, AFusedMlpCastsWithinItsActivation) {
  const double wide = kHidden * 3.5;
  const auto both = [&](const std::string& training) {
    const KernelContext context = context_of("llama3-8b", ", fp8_recipe: delayed" + training);
    const double hidden = kHidden * (2 + 2);  // the casts of the up GEMM's input and of the down GEMM's gradient
    return bytes_each({LayerSection::kMlp, LayerSection::kMlpDownBackward, LayerSection::kMlpUpDgrad}, context, wide) -
           2 * hidden / wide;
  };
  EXPECT_EQ(both(""), (6 + 4) + (10 + 2 * 4));
  EXPECT_EQ(both(", use_transformer_engine_op_fuser: true"), (4 + 2) + (6 + 2 * 2));
}

// A cast of 2 + 1 for each of both columns, and back.
TEST(PointwiseKernels, AnInputOfSwiGluThatIsStoredInFp8IsCastInEachDirection) {
  const double wide = kHidden * 3.5;
  const KernelContext stored = context_of("llama3-8b", ", activation_func_fp8_input_store: true");
  EXPECT_EQ(bytes_each({LayerSection::kMlp}, stored, wide), 6 + 2 * 3);
  EXPECT_EQ(bytes_each({LayerSection::kMlpDownBackward}, stored, wide),
            bytes_each({LayerSection::kMlpDownBackward}, context_of("llama3-8b", ""), wide) + 2 * 3);
  const JobText gelu(
      "model: {preset: gpt3-175b}\ntraining: {global_batch: 1, activation_func_fp8_input_store: true}\n", 1);
  EXPECT_THAT(gelu.problems(), testing::ElementsAre("W131: training.activation_func_fp8_input_store has no effect: the "
                                                    "activation is not a SwiGLU"));
}

const std::vector<LayerSection> kLoss{LayerSection::kLossMax, LayerSection::kLossTarget, LayerSection::kLossSum,
                                      LayerSection::kLossFinish};

// Megatron's, with fused passes 6, 8 and 8, backward 6; without: cast 6, max 4, shift 8, exp 8, sum 4, divide 8;
// backward 8 and a cast of 6. PyTorch's: cast 6, log-softmax 16; backward 4, 16 and 6. Fused: one read; backward a read
// and a write. In chunks all at once.
TEST(PointwiseKernels, EveryLossHasItsOwnPassesOverTheLogits) {
  struct Case {
    const char* kind;
    double forward;
    double backward;
  };
  for (const Case& expected : {Case{"split", 38, 14}, Case{"eager", 22, 26}, Case{"compiled", 4, 4},
                               Case{"split-fused", 22, 6}, Case{"fused", 2, 4}, Case{"chunked", 6, 0}}) {
    const KernelContext context = context_of("llama3-8b", std::string(", cross_entropy: ") + expected.kind);
    EXPECT_EQ(bytes_each(kLoss, context, kLogits), expected.forward) << expected.kind;
    EXPECT_EQ(bytes_each({LayerSection::kLossBackward}, context, kLogits), expected.backward) << expected.kind;
  }
}

TEST(PointwiseKernels, AMetricOfTheLossIsAnotherEagerForwardPass) {
  const KernelContext context = context_of("llama3-8b", ", cross_entropy: fused, loss_metrics: 2");
  EXPECT_EQ(bytes_each(kLoss, context, kLogits), 2 + 2 * 22);
}

}  // namespace
}  // namespace ringwright::workload::pointwise_kernels_test
