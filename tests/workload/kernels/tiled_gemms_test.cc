#include "workload/kernels/tiled_gemms.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload::tiled_gemms_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A GELU model whose up GEMM has 64 x 96 weights; 4 sequences of 32 tokens.
KernelContext context_of(const std::string& tiles, const std::string& training = "") {
  const JobText job(
      "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, "
      "seq_length: 32, activation: gelu, bias: none}\ntraining: {global_batch: 16, micro_batch: 4" +
          training + "}\nparallel: {zero: {stage: 3, tiled_linear: {" + tiles + "}}}\n",
      4);
  EXPECT_THAT(job.problems(), IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

std::vector<std::string> names(const std::vector<Kernel>& kernels) {
  std::vector<std::string> result;
  for (const Kernel& kernel : kernels) result.push_back(kernel.name);
  return result;
}

std::int64_t tiles(const TiledKernels& cut) {
  return std::ranges::count_if(cut.steps, &TiledKernels::Step::tile);
}

double flops(const TiledKernels& cut) {
  double sum = 0.0;
  for (const TiledKernels::Step& step : cut.steps) {
    for (const Kernel& kernel : cut.kernels[step.kernels]) sum += kernel.flops.count();
  }
  return sum;
}

double flops(const std::vector<Kernel>& kernels) {
  double sum = 0.0;
  for (const Kernel& kernel : kernels) sum += kernel.flops.count();
  return sum;
}

std::vector<Kernel> gradients_of_up(const KernelContext& context) {
  std::vector<Kernel> kernels = kernels_of(LayerSection::kMlpUpDgrad, context);
  for (Kernel& kernel : kernels_of(LayerSection::kMlpUpWgrad, context)) kernels.push_back(std::move(kernel));
  return kernels;
}

TEST(TiledGemms, AnOperatorIsAGridOfGemmsWithItsFlops) {
  const KernelContext context = context_of("in_splits: 2, out_splits: 4");
  const std::vector<Kernel> whole = kernels_of(LayerSection::kMlp, context);
  const TiledKernels cut = tile_linears(whole, context);
  EXPECT_EQ(tiles(cut), 2 * 2 * 4);  // up and down
  EXPECT_DOUBLE_EQ(flops(cut), flops(whole));
  const Kernel& tile = cut.kernels[cut.steps.front().kernels].front();
  EXPECT_EQ(tile.m, 4 * 32);
  EXPECT_EQ(tile.n, 96 / 4);
  EXPECT_EQ(tile.k, 64 / 2);
  // bf16: both operands and the result.
  EXPECT_EQ(tile.bytes.count(), 2 * (tile.m * tile.k + tile.k * tile.n + tile.m * tile.n));
}

// The first tile of an output is cloned, the others are added to it.
TEST(TiledGemms, OutputsAreSumsOverTheInputsTilesAndAreConcatenated) {
  const KernelContext context = context_of("in_splits: 2, out_splits: 2");
  const TiledKernels cut = tile_linears(kernels_of(LayerSection::kMlp, context), context);
  const auto step = [&](std::size_t i) { return names(cut.kernels[cut.steps[i].kernels]); };
  for (const std::size_t output : {0U, 2U}) {
    EXPECT_THAT(step(output), ElementsAre("mlp up tile", "mlp up clone"));
    EXPECT_THAT(step(output + 1), ElementsAre("mlp up tile", "mlp up sum"));
  }
  EXPECT_EQ(step(4).front(), "mlp up concatenation");
  EXPECT_FALSE(cut.steps[4].tile);
}

TEST(TiledGemms, EachTileHasBothOfItsGradients) {
  const KernelContext context = context_of("in_splits: 2, out_splits: 2");
  const std::vector<Kernel> whole = gradients_of_up(context);
  const TiledKernels cut = tile_linears(whole, context);
  EXPECT_EQ(tiles(cut), 4);
  EXPECT_DOUBLE_EQ(flops(cut), flops(whole));
  const auto step = [&](std::size_t i) { return names(cut.kernels[cut.steps[i].kernels]); };
  EXPECT_THAT(step(0), ElementsAre("mlp up dgrad tile", "mlp up wgrad tile"));
  EXPECT_THAT(step(2), ElementsAre("mlp up dgrad tile", "mlp up wgrad tile", "mlp up dgrad sum"));
  const Kernel& weight = cut.kernels[cut.steps[0].kernels].back();
  EXPECT_EQ(weight.m, 64 / 2);
  EXPECT_EQ(weight.n, 96 / 2);
  EXPECT_EQ(weight.k, 4 * 32);
}

TEST(TiledGemms, KernelsThatAddAGradientAreCutWithIt) {
  const KernelContext context = context_of("in_splits: 2, out_splits: 2", ", gradient_accumulation: separate");
  const TiledKernels cut = tile_linears(gradients_of_up(context), context);
  const std::vector<Kernel>& tile = cut.kernels[cut.steps[0].kernels];
  ASSERT_THAT(names(tile), ElementsAre("mlp up dgrad tile", "mlp up wgrad tile", "mlp up wgrad sum"));
  EXPECT_EQ(tile[2].bytes.count(), 64 * 96 / 4 * (2 + 2 * 4));  // read in bf16; read and written in fp32
}

// Megatron-DeepSpeed: tile_factor 2 makes an operator of h x 3 h values 2 x 6 tiles.
TEST(TiledGemms, ATileFactorMakesSquares) {
  const KernelContext context = context_of("tile_factor: 2");
  const TiledKernels up = tile_linears(gradients_of_up(context), context);
  EXPECT_EQ(tiles(up), 2 * 3);
  const Kernel& tile = up.kernels[up.steps[0].kernels].front();
  EXPECT_EQ(tile.n, 32);
  EXPECT_EQ(tile.k, 32);
}

TEST(TiledGemms, TheAttentionCoreIsNotCut) {
  const KernelContext context = context_of("in_splits: 2, out_splits: 2", ", attention: unfused");
  const TiledKernels cut = tile_linears(kernels_of(LayerSection::kAttention, context), context);
  EXPECT_EQ(tiles(cut), 2 * 4);  // of the qkv GEMM and of the projection
  EXPECT_DOUBLE_EQ(flops(cut), flops(kernels_of(LayerSection::kAttention, context)));
}

}  // namespace
}  // namespace ringwright::workload::tiled_gemms_test
