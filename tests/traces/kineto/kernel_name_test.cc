#include "traces/kineto/kernel_name.h"

#include <gtest/gtest.h>

namespace ringwright::traces::kernel_name_test {
namespace {

void expect_nccl(const char* kernel, const char* operation, const char* variant) {
  EXPECT_TRUE(is_nccl_kernel(kernel)) << kernel;
  const NcclKernelName name = parse_nccl_kernel(kernel);
  EXPECT_EQ(name.operation, operation) << kernel;
  EXPECT_EQ(name.variant, variant) << kernel;
}

TEST(NcclKernelName, OfAllVersions) {
  expect_nccl("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce", "RING_LL");
  expect_nccl("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevComm*)", "all_reduce", "TREE_LL");
  expect_nccl("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "all_reduce",
              "RING_LL");
  expect_nccl("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "sendrecv", "RING_SIMPLE");
  expect_nccl("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "sendrecv", "");
  expect_nccl("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "all_reduce", "RING_LL");
  expect_nccl("ncclDevKernel_ReduceScatter_Sum_bf16_NVLS_TREE_SIMPLE()", "reduce_scatter", "NVLS_TREE_SIMPLE");
  expect_nccl("ncclDevKernel_AllGather_RING_LL128()", "all_gather", "RING_LL128");
  expect_nccl("ncclDevKernel_AllReduce_Sum_f16_COLLNET_CHAIN_SIMPLE()", "all_reduce", "COLLNET_CHAIN_SIMPLE");
  expect_nccl("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "", "");
  expect_nccl("rcclKernel_Broadcast_RING_SIMPLE_Sum_int8_t", "broadcast", "RING_SIMPLE");
}

TEST(NcclKernelName, OtherKernelsAreNotOfNccl) {
  EXPECT_FALSE(is_nccl_kernel("void cutlass::Kernel<ncclish>()"));
  EXPECT_TRUE(communicates("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>()"));
  EXPECT_FALSE(communicates("void at::native::reduce_kernel<512, 1>()"));
}

TEST(NcclKernel, ArgumentsOfOldOnesTellTheVersion) {
  EXPECT_EQ(nccl_of_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), "2.10");
  EXPECT_EQ(nccl_of_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, ncclWorkElem)"), "2.11");
  EXPECT_EQ(nccl_of_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"), "");
  EXPECT_EQ(nccl_of_kernel("other(ncclWorkElem)"), "");
}

TEST(WorkFamily, OfNamesInPublicTraces) {
  const auto family = [](const char* name) { return family_of(name); };
  EXPECT_EQ(family("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"), WorkFamily::kGemm);
  EXPECT_EQ(family("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV"), WorkFamily::kGemm);
  EXPECT_EQ(family("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT"), WorkFamily::kGemm);
  EXPECT_EQ(family("void pytorch_flash::flash_fwd_kernel<Kernel_traits<cutlass::bfloat16_t>>()"),
            WorkFamily::kAttention);
  EXPECT_EQ(family("attn_fwd"), WorkFamily::kAttention);
  EXPECT_EQ(family("void cudnn::bn_bw_1C11_kernel_new<float, float>(float)"), WorkFamily::kNorm);
  EXPECT_EQ(family("void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized>()"),
            WorkFamily::kConvolution);
  EXPECT_EQ(family("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor>(long)"),
            WorkFamily::kOptimizer);
  EXPECT_EQ(family("void cub::DeviceRadixSortOnesweepKernel<cub::Policy900>()"), WorkFamily::kSort);
  EXPECT_EQ(family("ncclDevKernel_AllReduce_Sum_bf16_RING_LL()"), WorkFamily::kCommunication);
  EXPECT_EQ(family("unheard_of"), WorkFamily::kOther);
}

TEST(WorkFamily, OfAGenericKernelIsThatOfItsFunctionNotOfItsArguments) {
  EXPECT_EQ(family_of("void at::native::vectorized_elementwise_kernel<4, at::native::softmax_functor>(int)"),
            WorkFamily::kElementwise);
  EXPECT_EQ(family_of("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, GemmLike>>()"),
            WorkFamily::kReduction);
}

}  // namespace
}  // namespace ringwright::traces::kernel_name_test
