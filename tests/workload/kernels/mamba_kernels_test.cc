#include "workload/kernels/mamba_kernels.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::mamba_kernels_test {
namespace {

KernelContext context_of(const std::string& parallel) {
  const JobText job("model: {preset: nemotron-h-8b}\ntraining: {global_batch: 64}\nparallel: {" + parallel + "}\n", 8);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

double flops_of(LayerSection section, const KernelContext& context, std::string_view part = "") {
  double flops = 0.0;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.name.starts_with(part)) flops += kernel.flops.count();
  }
  return flops;
}

// T tokens: GEMMs of 2 T h columns; per token scores 2 G Q N, states 2 H N P, scan 2 H P (Q + N).
TEST(MambaKernels, HaveTheFormulasFlops) {
  const KernelContext context = context_of("tp: 1");
  const double tokens = 8192;
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kMamba, context, "mamba in"),
                   2.0 * tokens * 4096 * (2 * 8192 + 2 * 8 * 128 + 128));
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kMamba, context, "mamba out"), 2.0 * tokens * 4096 * 8192);
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kMamba, context, "mamba scores"), tokens * 2.0 * 8 * 128 * 128);
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kMamba, context, "mamba chunk states"), tokens * 2.0 * 128 * 128 * 64);
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kMamba, context, "mamba scan"), tokens * 2.0 * 128 * 64 * (128 + 128));
}

TEST(MambaKernels, BackwardHasBothGradientsOfEachGemm) {
  const KernelContext context = context_of("tp: 1");
  const double gemms =
      flops_of(LayerSection::kMamba, context, "mamba in") + flops_of(LayerSection::kMamba, context, "mamba out");
  const double gradients = flops_of(LayerSection::kMambaBackward, context, "mamba out") +
                           flops_of(LayerSection::kMambaDgrad, context, "mamba in") +
                           flops_of(LayerSection::kMambaWgrad, context, "mamba in");
  EXPECT_DOUBLE_EQ(gradients, 2.0 * gemms);
}

TEST(MambaKernels, TensorParallelRanksShareTheWork) {
  const double whole = flops_of(LayerSection::kMamba, context_of("tp: 1"));
  const double part = flops_of(LayerSection::kMamba, context_of("tp: 4, sequence_parallel: true"));
  EXPECT_NEAR(4.0 * part / whole, 1.0, 1e-12);
}

// The scan passes over x, B, C, states and scores, whatever the length of the sequence: bytes grow with tokens.
TEST(MambaKernels, TheScansBytesGrowWithTokensAlone) {
  KernelContext context = context_of("tp: 1");
  const auto bytes = [&] {
    double all = 0.0;
    for (const Kernel& kernel : kernels_of(LayerSection::kMamba, context)) {
      if (kernel.name == "mamba scan" || kernel.name == "mamba state passing") {
        all += static_cast<double>(kernel.bytes.count());
      }
    }
    return all;
  };
  const double once = bytes();
  context.shape.sequence *= 4;
  EXPECT_DOUBLE_EQ(bytes(), 4.0 * once);
}

}  // namespace
}  // namespace ringwright::workload::mamba_kernels_test
