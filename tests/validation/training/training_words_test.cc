#include "validation/training/training_words.h"

#include <gtest/gtest.h>

namespace ringwright::validation::training_words_test {
namespace {

TEST(TrainingWords, CaseAndDashesDoNotMatter) {
  EXPECT_TRUE(says("Overlap-Grad_Reduce", "overlap grad reduce"));
  EXPECT_FALSE(says("overlap", "overlap grad"));
}

struct NicCase {
  const char* text;
  int count;
  double gbps;
};

TEST(TrainingWords, FindsTheCardsOfANode) {
  for (const NicCase& nic :
       {NicCase{"8x200Gbps HDR IB per node (Selene)", 8, 200.0}, NicCase{"8x400G CX7 per node (DGX H100)", 8, 400.0},
        NicCase{"4 x 200 Gb/s Slingshot per node; NCCL on TCP sockets", 4, 200.0},
        NicCase{"4x ConnectX-8 IB XDR 800 Gb/s", 4, 800.0},
        NicCase{"Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, "
                "Management: 100Gb/s Ethernet NIC",
                8, 400.0},
        NicCase{"Compute: 8x MT43244 BlueField-3 200Gb/s, Management: 2x100Gb/s Ethernet", 8, 200.0},
        NicCase{"BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 2, 400.0}, NicCase{"1600Gbps per node RoCE", 8, 200.0},
        NicCase{"800 Gbps per node inter (config)", 4, 200.0}}) {
    const auto found = read_nics(nic.text);
    ASSERT_TRUE(found) << nic.text;
    EXPECT_EQ(found->count, nic.count) << nic.text;
    EXPECT_DOUBLE_EQ(found->gbps, nic.gbps) << nic.text;
  }
}

TEST(TrainingWords, ReportsNoCardsWithoutNumbers) {
  for (const char* const text :
       {"", "not stated", "Ethernet, Infiniband", "InfiniBand; Data bandwidth for GPU-PCIe: 504 GB/s",
        "RoCE RDMA between nodes (speed not stated)"}) {
    EXPECT_FALSE(read_nics(text)) << text;
  }
}

TEST(TrainingWords, TheNarrowestTypeDecides) {
  EXPECT_EQ(read_precision("fp8 (hybrid, delayed scaling)"), "fp8");
  EXPECT_EQ(read_precision("MXFP8"), "fp8");
  EXPECT_EQ(read_precision("amp_bf16"), "bf16");
  EXPECT_EQ(read_precision("fp16/bf16 (tuning period)"), "bf16");
  EXPECT_EQ(read_precision("bfloat16"), "bf16");
  EXPECT_EQ(read_precision("float16"), "fp16");
  EXPECT_EQ(read_precision("TF32"), "fp32");
  EXPECT_EQ(read_precision(""), "");
}

TEST(TrainingWords, KnowsRecipesOfFp8) {
  EXPECT_EQ(read_fp8_recipe("fp8 (hybrid, delayed scaling)"), "delayed");
  EXPECT_EQ(read_fp8_recipe("fp8 rowwise"), "rowwise");
  EXPECT_EQ(read_fp8_recipe("MXFP8"), "mxfp8");
  EXPECT_EQ(read_fp8_recipe("FP8-CS"), "tensorwise");
  EXPECT_EQ(read_fp8_recipe("FP8 (CS)"), "tensorwise");
  EXPECT_EQ(read_fp8_recipe("FP8-DS"), "delayed");
  EXPECT_EQ(read_fp8_recipe("FP8 blockwise"), "blockwise");
  EXPECT_EQ(read_fp8_recipe("FP8-MX"), "mxfp8");
  EXPECT_EQ(read_fp8_recipe("FP8"), "");
}

TEST(TrainingWords, DistinguishesKindsOfRecomputation) {
  EXPECT_EQ(read_recompute("full (use_checkpoint true)"), RecomputeWords::kFull);
  EXPECT_EQ(read_recompute("selective op"), RecomputeWords::kSelectiveOps);
  EXPECT_EQ(read_recompute("selective layer"), RecomputeWords::kSelectiveLayers);
  EXPECT_EQ(read_recompute("selective (core attention)"), RecomputeWords::kSelective);
  EXPECT_EQ(read_recompute("none (not stated)"), RecomputeWords::kNone);
  EXPECT_EQ(read_recompute("selective/none (not stated)"), RecomputeWords::kUnsaid);
  EXPECT_EQ(read_recompute(""), RecomputeWords::kUnsaid);
}

TEST(TrainingWords, ReadsHowManyLayersAreComputedAgain) {
  EXPECT_EQ(read_layer_period("selective layer"), 2) << "torchtitan's default";
  EXPECT_EQ(read_layer_period("selective layer, every 3rd"), 3);
}

TEST(TrainingWords, KnowsMegatronsModules) {
  EXPECT_EQ(read_recomputed_modules("moe_act, layernorm"), (std::vector<std::string>{"layernorm", "moe_act"}));
  EXPECT_EQ(read_recompute("moe_act, layernorm"), RecomputeWords::kSelective);
  EXPECT_TRUE(read_recomputed_modules("full").empty());
}

TEST(TrainingWords, ReadsAmongHowManyRanksACopyIsShared) {
  EXPECT_EQ(read_sharding("FSDP=128").degree, 128);
  EXPECT_FALSE(read_sharding("FSDP2").degree);
}

TEST(TrainingWords, DistinguishesKindsOfSharding) {
  EXPECT_EQ(read_sharding("none (plain DP; use_gradient_bucket false)").what, ShardingWords::kNone);
  EXPECT_EQ(read_sharding("distributed optimizer (NeMo default)").what, ShardingWords::kOptimizer);
  EXPECT_EQ(read_sharding("ZeRO-2").what, ShardingWords::kGradients);
  EXPECT_TRUE(read_sharding("ZeRO-3 + CPU AdamW offload").offloads_optimizer);
  EXPECT_TRUE(read_sharding("FSDP2 (ZeRO-3; default reshard)").fsdp);
  EXPECT_TRUE(read_sharding("FSDP SHARD_GRAD_OP").keeps_parameters);
  EXPECT_EQ(read_sharding("").what, ShardingWords::kUnsaid);
}

TEST(TrainingWords, ReadsOverlapFlags) {
  const OverlapWords nemo =
      read_overlap("ub_tp_comm_overlap, overlap_grad_sync, overlap_param_sync, bucket_cap_mb 75, grad_sync bf16");
  EXPECT_EQ(nemo.tensor, true);
  EXPECT_EQ(nemo.grad_reduce, true);
  EXPECT_EQ(nemo.param_gather, true);
  EXPECT_EQ(nemo.bucket_mb, 75.0);
  EXPECT_TRUE(nemo.bf16_gradients);
  const OverlapWords mlperf = read_overlap("TP_COMM_OVERLAP=0; FP8=True; BUCKET_CAP_MB=125");
  EXPECT_EQ(mlperf.tensor, false);
  EXPECT_FALSE(mlperf.grad_reduce) << "not stated";
  EXPECT_EQ(mlperf.bucket_mb, 125.0);
  EXPECT_FALSE(read_overlap("LAYER_CUDA_GRAPH=0; MCORE_CUDA_GRAPH=0").graphs);
  EXPECT_TRUE(read_overlap("LAYER_CUDA_GRAPH=0; MCORE_CUDA_GRAPH=1").graphs);
  EXPECT_EQ(read_overlap("none; 1f1b").grad_reduce, false);
  EXPECT_EQ(read_overlap("off (launchers keep TP/p2p/DP overlap off)").tensor, false);
}

TEST(TrainingWords, KnowsSchedulesByTheirPublishedNames) {
  EXPECT_EQ(read_schedule_name("1F1B"), "1f1b");
  EXPECT_EQ(read_schedule_name("1F1B-I"), "interleaved-1f1b");
  EXPECT_EQ(read_schedule_name("ZB-1p"), "zb-h1");
  EXPECT_EQ(read_schedule_name("ZB-2p"), "zb-h2");
  EXPECT_EQ(read_schedule_name("something else"), "");
}

}  // namespace
}  // namespace ringwright::validation::training_words_test
