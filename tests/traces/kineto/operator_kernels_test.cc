#include "traces/kineto/operator_kernels.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::traces::operator_kernels_test {
namespace {

OperatorInput tensor(std::vector<std::int64_t> sizes, std::string type = "c10::BFloat16") {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) elements *= size;
  return {.sizes = std::move(sizes), .elements = elements, .type = std::move(type), .value = ""};
}

OperatorInput scalar(std::string value) {
  return {.type = "Scalar", .value = std::move(value)};
}

OperatorInput list(std::int64_t elements) {
  return {.sizes = {}, .elements = elements, .type = "float", .value = ""};
}

std::int64_t bytes(std::string_view name, const std::vector<OperatorInput>& inputs) {
  const auto kernel = kernel_of_operator(name, inputs);
  return kernel ? kernel->bytes.count() : -1;
}

TEST(OperatorKernels, AMapReadsItsInputsAndWritesTheirBroadcastShapeInTheWidestType) {
  EXPECT_EQ(bytes("aten::silu", {tensor({16, 32})}), 2 * 2 * 512);
  EXPECT_EQ(bytes("aten::add", {tensor({16, 32}), tensor({16, 32}), scalar("1")}), 3 * 2 * 512);
  EXPECT_EQ(bytes("aten::mul", {tensor({16, 32}), tensor({16, 1}, "float")}), 2 * 512 + 4 * 16 + 4 * 512);
  EXPECT_EQ(bytes("aten::eq", {tensor({16, 32}), scalar("0")}), 2 * 512 + 512);
  EXPECT_EQ(bytes("aten::native_dropout", {tensor({16, 32})}), 2 * 2 * 512 + 512);
}

TEST(OperatorKernels, WhatIsWrittenInPlaceFilledCopiedReducedOrJoined) {
  EXPECT_EQ(bytes("aten::add_", {tensor({8}), tensor({8})}), 3 * 16);
  EXPECT_EQ(bytes("aten::fill_", {tensor({8}), scalar("0")}), 16);
  EXPECT_EQ(bytes("aten::copy_", {tensor({8}, "float"), tensor({8})}), 32 + 16);
  EXPECT_EQ(bytes("aten::sum", {tensor({8, 4})}), 64);
  EXPECT_EQ(bytes("aten::cat", {list(100)}), 800);
  EXPECT_EQ(bytes("aten::_fused_adam_", {list(10), list(10), list(10), list(10)}), 7 * 40);
}

TEST(OperatorKernels, LookupsReadTheRowsOfTheirIndices) {
  const auto rows = kernel_of_operator("aten::embedding", std::vector{tensor({1000, 64}), tensor({16, 2}, "long int")});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->bytes.count(), 2 * 32 * 128 + 32 * 8);
  EXPECT_EQ(rows->m, 128'000);  // of the table
  const std::vector columns{tensor({1000, 64}), scalar("1"), tensor({32}, "long int")};
  EXPECT_FALSE(kernel_of_operator("aten::index_select", columns));
}

TEST(OperatorKernels, AnAddedMatrixComesBeforeTheFactors) {
  const auto gemm = kernel_of_operator("aten::addmm", std::vector{tensor({32}), tensor({16, 8}), tensor({8, 32})});
  ASSERT_TRUE(gemm.has_value());
  EXPECT_EQ(gemm->family, KernelFamily::kGemm);
  EXPECT_EQ(gemm->m, 16);
  EXPECT_EQ(gemm->n, 32);
  EXPECT_EQ(gemm->k, 8);
  EXPECT_EQ(gemm->flops, Flops(2.0 * 16 * 32 * 8));
  EXPECT_FALSE(kernel_of_operator("aten::mm", std::vector{tensor({16, 8}), tensor({9, 32})}));
}

TEST(OperatorKernels, AttentionNeedsItsMask) {
  std::vector inputs{tensor({2, 512, 16, 64}),
                     tensor({2, 512, 4, 64}),
                     tensor({2, 512, 4, 64}),
                     scalar(""),
                     scalar(""),
                     scalar("512"),
                     scalar("512"),
                     scalar("0."),
                     scalar("True")};
  const auto causal = kernel_of_operator("aten::_flash_attention_forward", inputs);
  ASSERT_TRUE(causal.has_value());
  EXPECT_EQ(causal->m, 512);
  EXPECT_EQ(causal->batch, 32);
  EXPECT_EQ(causal->mask, AttentionMask::kCausal);
  EXPECT_EQ(causal->flops, Flops(4.0 * 0.5 * 512 * 512 * 32 * 64));
  EXPECT_EQ(causal->bytes.count(), 2 * 2 * (2 * 512 * 16 * 64 + 2 * 512 * 4 * 64));
  inputs.back().value = "False";
  EXPECT_EQ(kernel_of_operator("aten::_flash_attention_forward", inputs)->flops, causal->flops * 2.0);
  inputs.back().value = "";  // older profilers do not record it
  EXPECT_FALSE(kernel_of_operator("aten::_flash_attention_forward", inputs));
}

TEST(OperatorKernels, UnknownOperatorsTypesAndShapesHaveNoKernel) {
  EXPECT_FALSE(has_known_work("aten::view"));
  EXPECT_FALSE(kernel_of_operator("aten::view", std::vector{tensor({8})}));
  EXPECT_FALSE(kernel_of_operator("aten::add", std::vector{tensor({8}, "Quaternion"), tensor({8})}));
  EXPECT_FALSE(kernel_of_operator("aten::add", std::vector{scalar("1"), scalar("2")}));
  EXPECT_FALSE(kernel_of_operator("aten::add", {}));
}

TEST(OperatorKernels, NamesOfKernelsTellTf32) {
  EXPECT_TRUE(uses_tf32("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>(x)"));
  EXPECT_TRUE(uses_tf32("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize32x32x64"));
  EXPECT_FALSE(uses_tf32("ampere_sgemm_128x64_nn"));
  EXPECT_FALSE(uses_tf32("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128"));
}

}  // namespace
}  // namespace ringwright::traces::operator_kernels_test
