#include "configs/scenario/imports/megatron/megatron_import.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::megatron_import_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

struct Import {
  ConfigSource source{.name = "run.sh", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  std::map<std::string, std::string> keys;     // given by flags
  std::map<std::string, std::string> assumed;  // Megatron's defaults
  std::map<std::string, std::string> origins;

  explicit Import(std::string_view text) {
    if (const auto tree = import_megatron(text, source, problems)) collect(*tree, "");
  }
  void collect(const ConfigNode& node, const std::string& path) {
    for (const ConfigEntry& entry : node.entries) {
      const std::string name = path.empty() ? entry.key : path + "." + entry.key;
      if (entry.value.kind == ConfigKind::kMap) {
        collect(entry.value, name);
        continue;
      }
      (entry.value.source == &source ? keys : assumed)[name] = summary(entry.value);
      origins[name] = origin_of(entry.value);
    }
  }
  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> result;
    for (const Diagnostic& diagnostic : problems.all()) {
      result.push_back(diagnostic.code + ": " + diagnostic.message +
                       (diagnostic.hint.empty() ? "" : " | " + diagnostic.hint));
    }
    return result;
  }
};

constexpr const char* kScript = R"(#!/bin/bash
GPUS_PER_NODE=8
NNODES=4
TP=4
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
    --master_addr localhost
)
GPT_MODEL_ARGS=(
    --num-layers 32
    --hidden-size 4096
    --num-attention-heads 32
    --group-query-attention --num-query-groups 8
    --seq-length 8192 --max-position-embeddings 8192
    --swiglu --normalization RMSNorm --position-embedding-type rope
    --untie-embeddings-and-output-weights --disable-bias-linear
    --attention-dropout 0.0 --hidden-dropout 0.0
    --ffn-hidden-size 14336 --vocab-size 128256
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${GPT_MODEL_ARGS[@]} \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size=2 --sequence-parallel \
    --num-layers-per-virtual-pipeline-stage 4 \
    --micro-batch-size 1 --global-batch-size 128 --bf16 \
    --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --ddp-bucket-size 1000000 \
    --lr 1e-4 --train-iters 100 2>&1 | tee log
)";

TEST(MegatronImport, AScriptFillsModelTrainingAndLayout) {
  const Import import(kScript);
  EXPECT_THAT(import.messages(), IsEmpty());
  EXPECT_THAT(import.keys, testing::IsSupersetOf(std::map<std::string, std::string>{
                               {"model.num_layers", "32"},
                               {"model.num_query_groups", "8"},
                               {"model.activation", "swiglu"},
                               {"model.normalization", "rmsnorm"},
                               {"model.position_embedding", "rotary"},
                               {"model.untie_embeddings_and_output_weights", "true"},
                               {"model.bias", "none"},
                               {"model.hidden_dropout", "0.0"},
                               {"training.precision", "bf16"},
                               {"training.global_batch", "128"},
                               {"parallel.tp", "4"},
                               {"parallel.pp", "2"},
                               {"parallel.sequence_parallel", "true"},
                               {"parallel.schedule", "interleaved-1f1b"},
                               {"parallel.virtual_stages", "4"},  // 32 layers / (2 stages x 4)
                               {"parallel.zero.stage", "1"},
                               {"parallel.zero.overlap_grad_reduce", "true"},
                               {"parallel.zero.bucket", "4000000B"},  // fp32 gradients
                               {"cluster.nodes", "4"},
                               {"cluster.node.gpus", "8"}}));
  EXPECT_EQ(import.origins.at("model.num_layers"), "run.sh:11");
  EXPECT_EQ(import.origins.at("parallel.tp"), "run.sh:22");
  EXPECT_THAT(import.assumed, Contains(Pair("training.recompute", "none")));
}

TEST(MegatronImport, WhatIsNotGivenIsAsInMegatron) {
  const Import import("--num-layers 12 --hidden-size 768 --tokenizer-type GPT2BPETokenizer\n");
  EXPECT_THAT(import.assumed,
              testing::IsSupersetOf(std::map<std::string, std::string>{{"model.activation", "gelu"},
                                                                       {"model.normalization", "layernorm"},
                                                                       {"model.position_embedding", "learned"},
                                                                       {"model.bias", "all"},
                                                                       {"model.hidden_dropout", "0.1"},
                                                                       {"training.precision", "fp32"},
                                                                       {"parallel.zero.stage", "0"}}));
  EXPECT_EQ(import.origins.at("model.activation"), "Megatron's default");
  EXPECT_EQ(import.keys.at("model.vocab_size"), "50257");
  // A gated MLP without a width of its own has two thirds of 4h, in steps of 64.
  EXPECT_EQ(Import("--hidden-size 4096 --swiglu\n").assumed.at("model.ffn_hidden_size"), "10880");
}

TEST(MegatronImport, PositionsMayBeLeftOut) {
  EXPECT_EQ(Import("--hidden-size 4096 --no-position-embedding\n").keys.at("model.position_embedding"), "none");
  // Given together with a type, as in Megatron's own examples, it adds nothing.
  EXPECT_EQ(Import("--no-position-embedding --position-embedding-type rope\n").keys.at("model.position_embedding"),
            "rotary");
}

TEST(MegatronImport, ALogTellsEveryArgument) {
  const Import import(
      "  add_bias_linear ................................. False\n  bf16 ............................................ "
      "True\n"
      "  cp_comm_type .................................... ['p2p']\n  context_parallel_size "
      "........................... 1\n"
      "  data_parallel_size .............................. 4\n  fp16 ............................................ "
      "False\n"
      "  moe_something_new ............................... None\n  num_experts ..................................... "
      "None\n"
      "  num_layers ...................................... 24\n  num_query_groups ................................ 1\n"
      "  optimizer ....................................... adam\n  padded_vocab_size ............................... "
      "50304\n"
      "  some_thing ...................................... 3\n  vocab_size ...................................... "
      "None\n"
      "  world_size ...................................... 32\n");
  EXPECT_THAT(import.messages(),
              ElementsAre("W135: 2 arguments of the log are unknown and left out: moe-something-new, some-thing"));
  EXPECT_EQ(import.keys.at("model.bias"), "none");
  EXPECT_EQ(import.keys.at("parallel.dp"), "4");
  EXPECT_EQ(import.keys.at("model.vocab_size"), "50304");
  EXPECT_THAT(import.keys, Not(Contains(Pair("model.num_query_groups", "1"))));
}

TEST(MegatronImport, ATestCaseOfMegatronIsRead) {
  const Import import(
      "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\nMODEL_ARGS:\n  --num-layers: 12\n  --tensor-model-parallel-size: "
      "2\n"
      "  --use-distributed-optimizer: true\n  --bf16: true\n  --recompute-granularity: full\n"
      "  --recompute-method: uniform\n  --recompute-num-layers: 1\n");
  EXPECT_THAT(import.messages(), IsEmpty());
  EXPECT_EQ(import.keys.at("parallel.tp"), "2");
  EXPECT_EQ(import.keys.at("parallel.zero.stage"), "1");
  EXPECT_EQ(import.keys.at("training.recompute"), "full");
}

TEST(MegatronImport, ExpertsAndLatentAttention) {
  const Import import(
      "--num-layers 61 --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-layer-freq "
      "'([0]*3+[1]*58)'"
      " --expert-model-parallel-size 64 --expert-tensor-parallel-size 1 --moe-token-dispatcher-type flex"
      " --multi-latent-attention --kv-lora-rank 512 --context-parallel-size 2 --cp-comm-type allgather\n");
  EXPECT_THAT(import.messages(), IsEmpty());
  EXPECT_THAT(import.keys,
              testing::IsSupersetOf(std::map<std::string, std::string>{{"model.first_k_dense_replace", "3"},
                                                                       {"model.multi_latent_attention", "true"},
                                                                       {"model.kv_lora_rank", "512"},
                                                                       {"parallel.ep", "64"},
                                                                       {"parallel.etp", "1"},
                                                                       {"parallel.moe_token_dispatcher_type", "flex"},
                                                                       {"parallel.cp_comm_type", "all_gather"}}));
  EXPECT_EQ(import.assumed.at("model.qk_head_dim"), "128");
}

// They are off unless they are given.
TEST(MegatronImport, FusionsOfExpertsAreThoseOfTheCommandLine) {
  const std::string experts = "--num-layers 2 --num-experts 8 --moe-router-topk 2 ";
  const Import without(experts + "\n");
  const Import with(experts + "--moe-grouped-gemm --moe-permute-fusion --moe-router-fusion\n");
  for (const char* key : {"training.moe_grouped_gemm", "training.moe_permute_fusion", "training.moe_router_fusion"}) {
    EXPECT_EQ(without.assumed.at(key), "false") << key;
    EXPECT_EQ(with.keys.at(key), "true") << key;
    EXPECT_FALSE(Import("--num-layers 2\n").assumed.contains(key)) << key;
  }
}

TEST(MegatronImport, UnknownFlagsAreReportedWithTheNearest) {
  EXPECT_THAT(Import("--num-layers 2 --tensor-model-paralel-size 8\n").messages(),
              ElementsAre("W135: --tensor-model-paralel-size is unknown and left out | did you mean "
                          "--tensor-model-parallel-size?"));
}

TEST(MegatronImport, WhatIsNotModelledIsReported) {
  EXPECT_THAT(
      Import("--num-layers 2 --rampup-batch-size 1 1 8 --recompute-granularity selective "
             "--recompute-modules core_attn attention\n")
          .messages(),
      testing::UnorderedElementsAre("W136: --rampup-batch-size is not modelled: the batch is global-batch-size from "
                                    "the first step",
                                    "W136: --recompute-modules attention is not modelled: its activations are stored"));
}

TEST(MegatronImport, FusedLossesAndLayersAreRead) {
  const Import native("--num-layers 2 --cross-entropy-loss-fusion --transformer-impl transformer_engine\n");
  EXPECT_THAT(native.messages(), IsEmpty());
  EXPECT_THAT(native.keys, Contains(Pair("training.cross_entropy", "split-fused")));
  EXPECT_THAT(native.keys, Contains(Pair("training.transformer_impl", "transformer_engine")));
  const Import engine("--num-layers 2 --cross-entropy-loss-fusion --cross-entropy-fusion-impl te\n");
  EXPECT_THAT(engine.keys, Contains(Pair("training.cross_entropy", "fused")));
  const Import without("--num-layers 2 --cross-entropy-fusion-impl te\n");
  EXPECT_THAT(without.messages(),
              ElementsAre("W131: --cross-entropy-fusion-impl has no effect without --cross-entropy-loss-fusion"));
  EXPECT_THAT(without.keys, Not(Contains(Pair("training.cross_entropy", "fused"))));
}

TEST(MegatronImport, APatternOfLayersMayEndWithThoseOfMultiTokenPrediction) {
  const std::string experts = "--num-experts 8 --moe-latent-size 64 --mtp-use-repeated-layer ";
  const Import both(experts + "--hybrid-layer-pattern MEM*/*E/*E\n");
  EXPECT_THAT(both.messages(), IsEmpty());
  EXPECT_THAT(both.keys, Contains(Pair("model.hybrid_override_pattern", "MEM*")));
  EXPECT_THAT(both.keys, Contains(Pair("model.num_layers", "4")));
  EXPECT_THAT(both.keys, Contains(Pair("model.mtp_hybrid_override_pattern", "*E")));
  EXPECT_THAT(both.keys, Contains(Pair("model.mtp_num_layers", "2")));
  EXPECT_THAT(both.keys, Contains(Pair("model.mtp_use_repeated_layer", "true")));
  EXPECT_THAT(both.keys, Contains(Pair("model.moe_latent_size", "64")));
  EXPECT_THAT(Import("--num-layers 2 --hybrid-layer-pattern M-\n").keys,
              Not(Contains(Pair("model.mtp_num_layers", testing::_))));
  EXPECT_THAT(Import("--hybrid-layer-pattern MEM*/*E/*-\n").messages(),
              ElementsAre(testing::HasSubstr("different layers of multi-token prediction")));
}

TEST(MegatronImport, NarrowGemmsAndStatesAreRead) {
  const Import fp8("--num-layers 2 --bf16 --fp8-format hybrid --fp8-recipe blockwise --fp8-amax-history-len 16\n");
  EXPECT_THAT(fp8.messages(), IsEmpty());
  EXPECT_THAT(fp8.keys, Contains(Pair("training.fp8_recipe", "blockwise")));
  const Import stored("--num-layers 2 --bf16 --fp8-format hybrid --fp8-param-gather\n");
  EXPECT_THAT(stored.messages(), IsEmpty());
  EXPECT_THAT(stored.keys, Contains(Pair("training.fp8_param_gather", "true")));
  EXPECT_THAT(Import("--num-layers 2 --fp8-format e4m3\n").keys, Contains(Pair("training.fp8_recipe", "delayed")));
  EXPECT_THAT(Import("--num-layers 2 --fp4-format e2m1\n").keys, Contains(Pair("training.fp4_recipe", "nvfp4")));
  const Import states(
      "  exp_avg_dtype ................................... torch.uint8\n  exp_avg_sq_dtype "
      "................................ "
      "torch.float16\n  main_params_dtype ............................... torch.float32\n"
      "  use_precision_aware_optimizer ................... True\n");
  EXPECT_THAT(states.messages(), IsEmpty());
  EXPECT_THAT(states.keys,
              testing::IsSupersetOf(std::map<std::string, std::string>{{"training.exp_avg_dtype", "fp8"},
                                                                       {"training.exp_avg_sq_dtype", "fp16"},
                                                                       {"training.main_params_dtype", "fp32"}}));
}

TEST(MegatronImport, TheMomentumIsThatOfSgd) {
  const Import sgd("--num-layers 2 --optimizer sgd --sgd-momentum 0.5\n");
  EXPECT_THAT(sgd.messages(), IsEmpty());
  EXPECT_THAT(sgd.keys, Contains(Pair("training.sgd_momentum", "0.5")));
  const Import adam("--num-layers 2 --optimizer adam --sgd-momentum 0.9\n");
  EXPECT_THAT(adam.messages(), IsEmpty());
  EXPECT_THAT(adam.keys, Not(Contains(Pair("training.sgd_momentum", testing::_))));
}

TEST(MegatronImport, OffloadingIsRead) {
  const Import import(
      "--num-layers 2 --cpu-offloading --cpu-offloading-num-layers 1 --use-precision-aware-optimizer "
      "--optimizer-cpu-offload "
      "--optimizer-offload-fraction 0.5 --overlap-cpu-optimizer-d2h-h2d\n");
  EXPECT_THAT(import.messages(), IsEmpty());
  EXPECT_THAT(import.keys, testing::IsSupersetOf(
                               std::map<std::string, std::string>{{"parallel.cpu_offloading_num_layers", "1"},
                                                                  {"parallel.zero.offload_optimizer.device", "cpu"},
                                                                  {"parallel.zero.offload_optimizer.ratio", "0.5"}}));
  EXPECT_THAT(Import("--num-layers 2 --cpu-offloading-num-layers 1\n").keys,
              Not(Contains(Pair("parallel.cpu_offloading_num_layers", "1"))));
}

// Flags of Megatron-DeepSpeed; the factor alone does nothing there.
TEST(MegatronImport, TilesOfLinearOperatorsAreRead) {
  const std::string key = "parallel.zero.tiled_linear.tile_factor";
  EXPECT_THAT(Import("--num-layers 2 --memory-centric-tiled-linear --tile-factor 16\n").keys,
              Contains(Pair(key, "16")));
  EXPECT_THAT(Import("--num-layers 2 --memory-centric-tiled-linear\n").keys, Contains(Pair(key, "1")));
  EXPECT_THAT(Import("--num-layers 2 --tile-factor 16\n").keys, Not(Contains(Pair(key, testing::_))));
}

TEST(MegatronImport, ExchangesOverlappedWithGemmsAreRead) {
  const Import import(
      "--num-layers 2 --tp-comm-overlap --disable-tp-comm-overlap-ag --tp-comm-overlap-rs-dgrad "
      "--disable-tp-comm-bulk-wgrad\n");
  EXPECT_THAT(import.messages(), IsEmpty());
  EXPECT_THAT(import.keys,
              testing::IsSupersetOf(std::map<std::string, std::string>{{"parallel.tp_comm_overlap", "true"},
                                                                       {"parallel.tp_comm_overlap_ag", "false"},
                                                                       {"parallel.tp_comm_overlap_rs_dgrad", "true"}}));
}

TEST(MegatronImport, RecomputationIsReadWhole) {
  const Import full(
      "--num-layers 8 --recompute-granularity full --recompute-method block --recompute-num-layers 3 "
      "--distribute-saved-activations\n");
  EXPECT_THAT(full.messages(), IsEmpty());
  EXPECT_THAT(full.keys, testing::IsSupersetOf(
                             std::map<std::string, std::string>{{"training.recompute", "full"},
                                                                {"training.recompute_method", "block"},
                                                                {"training.recompute_num_layers", "3"},
                                                                {"training.distribute_saved_activations", "true"}}));
  const Import logged(
      "  recompute_granularity ........................... selective\n  recompute_modules "
      "............................... "
      "['core_attn', 'moe_act']\n  num_layers ...................................... 2\n");
  EXPECT_THAT(logged.messages(), IsEmpty());
  EXPECT_THAT(logged.keys, Contains(Pair("training.recompute_modules", "[core_attn, moe_act]")));
}

TEST(MegatronImport, LayersOfGatedDeltaNetAreRead) {
  const std::string nets =
      "--num-layers 8 --experimental-attention-variant gated_delta_net --linear-num-value-heads 48 "
      "--attention-output-gate --linear-attention-freq ";
  const Import import(nets + "4\n");
  EXPECT_THAT(import.messages(), IsEmpty());
  EXPECT_THAT(import.keys, testing::IsSupersetOf(std::map<std::string, std::string>{
                               {"model.experimental_attention_variant", "gated_delta_net"},
                               {"model.linear_attention_freq", "4"},
                               {"model.linear_num_value_heads", "48"},
                               {"model.attention_output_gate", "true"}}));
  EXPECT_EQ(Import(nets + "'([1]*3+[0]*1)*2'\n").keys.at("model.linear_attention_freq"), "4");
  EXPECT_EQ(Import(nets + "'[0,1,1,0]'\n").keys.at("model.full_attn_layers"), "[1, 4]");
  EXPECT_THAT(Import(nets + "'[1]*8'\n").messages(), ElementsAre(testing::HasSubstr("no layer has attention")));
  EXPECT_THAT(Import(nets + "often\n").messages(), ElementsAre(testing::HasSubstr("a list of 0 and 1 is expected")));
  const Import kimi(
      "--num-layers 8 --experimental-attention-variant kimi_delta_attention --linear-attention-freq 4 "
      "--kda-f-lora-rank 128 --kda-gate-lora-rank 64\n");
  EXPECT_THAT(kimi.messages(), IsEmpty());
  EXPECT_THAT(kimi.keys, testing::IsSupersetOf(std::map<std::string, std::string>{
                             {"model.experimental_attention_variant", "kimi_delta_attention"},
                             {"model.kda_f_lora_rank", "128"},
                             {"model.kda_gate_lora_rank", "64"}}));
  EXPECT_THAT(Import("--num-layers 8 --experimental-attention-variant dsa\n").messages(),
              ElementsAre(testing::HasSubstr("W136: --experimental-attention-variant dsa is not modelled")));
}

TEST(MegatronImport, ValuesThatCannotBeReadAreErrors) {
  EXPECT_THAT(Import("--num-layers many\n").messages(),
              ElementsAre("E144: --num-layers is 'many', which is not a whole number"));
  EXPECT_THAT(
      Import("--tensor-model-parallel-size $TP\n").messages(),
      ElementsAre("E144: the value of --tensor-model-parallel-size is $TP, which this file does not set | write "
                  "the value, or set the variable above"));
  EXPECT_THAT(Import("--num-layers\n").messages(), ElementsAre("E144: --num-layers has no value"));
  EXPECT_THAT(Import("--num-layers 8 --num-experts 4 --moe-layer-freq '[1,0,1,0]'\n").messages(), testing::SizeIs(1));
  EXPECT_THAT(
      Import("--num-layers 10 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 2\n").messages(),
      ElementsAre("E144: --num-layers-per-virtual-pipeline-stage 2 x 2 stages does not divide 10 layers"));
}

TEST(MegatronImport, TheLastOfTwoCounts) {
  const Import import("--num-layers 8 --num-layers 16\n");
  EXPECT_EQ(import.keys.at("model.num_layers"), "16");
  EXPECT_THAT(import.messages(),
              ElementsAre("W135: --num-layers is given twice: '8' (line 1) and '16'; the last one counts"));
}

TEST(MegatronImport, TheWorldGivesTheReplicas) {
  EXPECT_EQ(Import("WORLD_SIZE=64\n--num-layers 8 --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2\n")
                .keys.at("parallel.dp"),
            "4");
}

}  // namespace
}  // namespace ringwright::configs::megatron_import_test
