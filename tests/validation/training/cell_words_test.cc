// Words of the shipped tables and of other published ones, as the shipped vocabulary understands them.
#include "validation/training/cell_words.h"

#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"

namespace ringwright::validation::cell_words_test {
namespace {

const Vocabulary& words() {
  static const Vocabulary kWords = *read_vocabulary(shipped_folder("training") + "/words.yaml");
  return kWords;
}

// "training.precision=bf16 training.fp8_recipe=delayed".
std::string text_of(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) text += (text.empty() ? "" : " ") + setting.path + "=" + setting.value;
  return text;
}

std::string precision_of(std::string_view cell, std::string_view framework = "Megatron-LM") {
  const std::string text = text_of(read_precision(words(), cell, framework));
  return text.empty() ? "unknown" : text;
}

std::string recompute_of(std::string_view cell) {
  return text_of(read_recomputation(words(), cell).set);
}

std::string schedule_of(std::string_view cell) {
  const ScheduleRule* const rule = find_rule(words().schedules, cell);
  return rule != nullptr ? rule->schedule : "unknown";
}

struct NicCase {
  const char* text;
  int count;
  double gbps;
};

TEST(CellWords, FindsTheCardsOfANode) {
  for (const NicCase& nic :
       {NicCase{"8x200Gbps HDR IB per node (Selene)", 8, 200.0}, NicCase{"8x400G CX7 per node (DGX H100)", 8, 400.0},
        NicCase{"4 x 200 Gb/s Slingshot per node; NCCL on TCP sockets", 4, 200.0},
        NicCase{"4x ConnectX-8 IB XDR 800 Gb/s", 4, 800.0},
        NicCase{"4x ConnectX-8 SuperNIC 4x200 Gb/s RoCE (800 Gb/s per GPU)", 4, 800.0},
        NicCase{"8x BlueField-3 B3240 2x 400 Gb/s", 8, 800.0},
        NicCase{"2x ConnectX-6 and, for computation, 8x ConnectX-7 400 Gb/s", 8, 400.0},
        NicCase{"Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, "
                "Management: 100Gb/s Ethernet NIC",
                8, 400.0},
        NicCase{"Compute: 8x MT43244 BlueField-3 200Gb/s, Management: 2x100Gb/s Ethernet", 8, 200.0},
        NicCase{"BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 2, 400.0}, NicCase{"1600Gbps per node RoCE", 8, 200.0},
        NicCase{"800 Gbps per node inter (config)", 4, 200.0}}) {
    const auto found = read_cards(words(), nic.text);
    ASSERT_TRUE(found) << nic.text;
    EXPECT_EQ(found->count, nic.count) << nic.text;
    EXPECT_DOUBLE_EQ(found->gbps, nic.gbps) << nic.text;
  }
}

TEST(CellWords, TheSumOfAHostIsDividedIntoCards) {
  EXPECT_TRUE(read_cards(words(), "1600Gbps per node RoCE")->divided);
  EXPECT_FALSE(read_cards(words(), "8x200Gbps HDR IB per node")->divided);
  EXPECT_FALSE(read_cards({}, "1600Gbps per node RoCE")) << "without a rule for such sums";
  EXPECT_EQ(read_cards({}, "8x200Gbps")->count, 8);
}

TEST(CellWords, NumbersBeyondAnyMachineAreNoCards) {
  EXPECT_FALSE(read_cards(words(), "99999999999999x400Gbps"));
  EXPECT_FALSE(read_cards(words(), "99999999999999Gbps per node"));
}

TEST(CellWords, ReportsNoCardsWithoutNumbers) {
  for (const char* const text :
       {"", "not stated", "Ethernet, Infiniband", "InfiniBand; Data bandwidth for GPU-PCIe: 504 GB/s",
        "RoCE RDMA between nodes (speed not stated)"}) {
    EXPECT_FALSE(read_cards(words(), text)) << text;
  }
}

TEST(CellWords, TheNarrowestTypeDecides) {
  EXPECT_EQ(precision_of("amp_bf16"), "training.precision=bf16");
  EXPECT_EQ(precision_of("fp16/bf16 (tuning period)"), "training.precision=bf16");
  EXPECT_EQ(precision_of("bfloat16"), "training.precision=bf16");
  EXPECT_EQ(precision_of("float16"), "training.precision=fp16");
  EXPECT_EQ(precision_of("16-mixed"), "training.precision=fp16");
  EXPECT_EQ(precision_of("TF32"), "training.precision=fp32");
  EXPECT_EQ(precision_of("posit16"), "unknown");
}

TEST(CellWords, GemmsInFp8LeaveTheRestInBf16) {
  const auto fp8 = [](const std::string& recipe) { return "training.precision=bf16 training.fp8_recipe=" + recipe; };
  EXPECT_EQ(precision_of("fp8 (hybrid, delayed scaling)"), fp8("delayed"));
  EXPECT_EQ(precision_of("fp8 rowwise"), fp8("rowwise"));
  EXPECT_EQ(precision_of("fp8 tensorwise linear"), fp8("tensorwise"));
  EXPECT_EQ(precision_of("MXFP8"), fp8("mxfp8"));
  EXPECT_EQ(precision_of("FP8-MX"), fp8("mxfp8"));
  EXPECT_EQ(precision_of("FP8-CS"), fp8("tensorwise"));
  EXPECT_EQ(precision_of("FP8 (CS)"), fp8("tensorwise"));
  EXPECT_EQ(precision_of("FP8-DS"), fp8("delayed"));
  EXPECT_EQ(precision_of("FP8-SC"), fp8("blockwise"));
  EXPECT_EQ(precision_of("FP8 blockwise"), fp8("blockwise"));
  EXPECT_EQ(precision_of("FP8"), fp8("delayed"));
  const std::string stored = " training.fp8_param_gather=true";
  EXPECT_EQ(precision_of("FP8", "Megatron-Bridge 26.04"), fp8("tensorwise") + stored);
  EXPECT_EQ(precision_of("FP8-CS", "Megatron-Bridge 25.11"), fp8("tensorwise") + stored);
  EXPECT_EQ(precision_of("FP8-DS", "Megatron-Bridge 26.04"), fp8("delayed"));
  EXPECT_EQ(precision_of("BF16", "Megatron-Bridge 26.04"),
            "training.precision=bf16 training.use_precision_aware_optimizer=true");
  EXPECT_EQ(precision_of("MXFP8", "Megatron-Bridge 26.04"), fp8("mxfp8") + stored);
  EXPECT_EQ(precision_of("FP8-MX", "Megatron-Bridge 25.09"), fp8("mxfp8"));
}

TEST(CellWords, GemmsInFp4AreOfNvfp4UnlessTheCellStatesOtherwise) {
  EXPECT_EQ(precision_of("FP4"), "training.precision=bf16 training.fp4_recipe=nvfp4");
  EXPECT_EQ(precision_of("mxfp4"), "training.precision=bf16 training.fp4_recipe=mxfp4");
}

TEST(CellWords, DistinguishesKindsOfRecomputation) {
  EXPECT_EQ(recompute_of("full (use_checkpoint true)"), "training.recompute=full");
  EXPECT_EQ(recompute_of("selective op"), "training.recompute=selective-ops");
  EXPECT_EQ(recompute_of("selective (op)"), "training.recompute=selective-ops");
  EXPECT_EQ(recompute_of("selective (toml default)"), "training.recompute=selective-ops");
  EXPECT_EQ(recompute_of("remat_policy: save_dot_with_context_except_mlp"),
            "training.recompute=except-saved training.recompute_saves=[qkv, core_attn, proj]");
  EXPECT_EQ(recompute_of("save_qkv_proj"), "training.recompute=except-saved training.recompute_saves=[qkv]");
  EXPECT_EQ(recompute_of("selective (core attention)"), "training.recompute=selective");
  EXPECT_EQ(recompute_of("none (not stated)"), "training.recompute=none");
  EXPECT_EQ(recompute_of("selective/none (not stated)"), "");
  EXPECT_TRUE(read_recomputation(words(), "selective/none (not stated)").known);
  EXPECT_FALSE(read_recomputation(words(), "partially").known);
}

TEST(CellWords, ReadsHowManyLayersAreComputedAgain) {
  EXPECT_EQ(read_recomputation(words(), "selective layer").layer_period, 2) << "torchtitan's default";
  EXPECT_EQ(read_recomputation(words(), "selective layer, every 3rd").layer_period, 3);
  EXPECT_EQ(read_recomputation(words(), "selective (every 4th layer)").layer_period, 4);
  EXPECT_EQ(read_recomputation(words(), "selective op").layer_period, 0);
}

TEST(CellWords, NamesOfModulesMeanSelectiveRecomputation) {
  EXPECT_EQ(read_recomputation(words(), "moe_act, layernorm").modules,
            (std::vector<std::string>{"layernorm", "moe_act"}));
  EXPECT_EQ(read_recomputation(words(), "selective: mla_up_proj+mlp").modules,
            (std::vector<std::string>{"mla_up_proj", "mlp"}));
  EXPECT_EQ(read_recomputation(words(), "['moe', 'shared_experts']").modules,
            (std::vector<std::string>{"moe", "shared_experts"}));
  EXPECT_TRUE(read_recomputation(words(), "full").modules.empty());
}

TEST(CellWords, ReadsAmongHowManyRanksACopyIsShared) {
  EXPECT_EQ(read_sharding(words(), "FSDP=128").degree, 128);
  EXPECT_FALSE(read_sharding(words(), "FSDP2").degree);
}

TEST(CellWords, DistinguishesKindsOfSharding) {
  EXPECT_EQ(read_sharding(words(), "none (plain DP; use_gradient_bucket false)").kind, ShardingKind::kNone);
  EXPECT_EQ(read_sharding(words(), "distributed optimizer (NeMo default)").kind, ShardingKind::kOptimizer);
  EXPECT_EQ(read_sharding(words(), "ZeRO-2").kind, ShardingKind::kGradients);
  EXPECT_TRUE(read_sharding(words(), "ZeRO-3 + CPU AdamW offload").offloads_optimizer);
  EXPECT_EQ(read_sharding(words(), "FSDP2 (ZeRO-3; default reshard)").kind, ShardingKind::kFullShard);
  EXPECT_EQ(read_sharding(words(), "FSDP SHARD_GRAD_OP").kind, ShardingKind::kShardGradOp);
  EXPECT_EQ(read_sharding(words(), "").kind, ShardingKind::kUnstated);
}

TEST(CellWords, ReadsOverlapFlags) {
  const Overlap nemo = read_overlap(
      words(), "ub_tp_comm_overlap, overlap_grad_sync, overlap_param_sync, bucket_cap_mb 75, grad_sync bf16");
  EXPECT_EQ(nemo.tensor, true);
  EXPECT_EQ(nemo.grad_reduce, true);
  EXPECT_EQ(nemo.param_gather, true);
  EXPECT_EQ(nemo.bucket_mb, 75.0);
  EXPECT_EQ(text_of(nemo.set), "training.grad_reduce_dtype=bf16");
  const Overlap mlperf = read_overlap(words(), "TP_COMM_OVERLAP=0; FP8=True; BUCKET_CAP_MB=125");
  EXPECT_EQ(mlperf.tensor, false);
  EXPECT_FALSE(mlperf.grad_reduce) << "not stated";
  EXPECT_EQ(mlperf.bucket_mb, 125.0);
  EXPECT_EQ(text_of(read_overlap(words(), "LAYER_CUDA_GRAPH=0; MCORE_CUDA_GRAPH=0").set), "");
  EXPECT_EQ(text_of(read_overlap(words(), "LAYER_CUDA_GRAPH=0; MCORE_CUDA_GRAPH=1").set), "compute.cuda_graphs=true");
  EXPECT_EQ(text_of(read_overlap(words(), "SP=0; FP8_DPA=1").set), "training.fp8_dot_product_attention=true");
  EXPECT_EQ(text_of(read_overlap(words(), "SP=0; FP8_DPA=0").set), "");
  EXPECT_EQ(read_overlap(words(), "none; 1f1b").grad_reduce, false);
  EXPECT_FALSE(read_overlap(words(), "PP interleaved, none of DP").grad_reduce) << "only at the start of a cell";
  EXPECT_EQ(read_overlap(words(), "off (launchers keep TP/p2p/DP overlap off)").tensor, false);
}

TEST(CellWords, KnowsSchedulesByTheirPublishedNames) {
  EXPECT_EQ(schedule_of("1F1B"), "1f1b");
  EXPECT_EQ(schedule_of("1F1B-I"), "interleaved-1f1b");
  EXPECT_EQ(schedule_of("ZB-1p"), "zb-h1");
  EXPECT_EQ(schedule_of("ZB-2p"), "zb-h2");
  EXPECT_EQ(schedule_of("something else"), "unknown");
}

}  // namespace
}  // namespace ringwright::validation::cell_words_test
