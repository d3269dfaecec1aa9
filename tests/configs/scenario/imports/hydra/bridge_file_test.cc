#include "configs/scenario/imports/hydra/bridge_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/hydra/imported_run.h"

namespace ringwright::configs::bridge_file_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;
using Keys = std::map<std::string, std::string>;

// A whole model; sections of `more` follow.
ImportedRun run_of(const std::string& model, const std::string& more = "train: {global_batch_size: 8}\n") {
  return ImportedRun("model:\n  num_layers: 8\n  hidden_size: 256\n  num_attention_heads: 8\n" + model + more);
}

TEST(BridgeFile, AWholeConfigurationIsTheCommandLineOfTheSameRun) {
  const ImportedRun yaml(run_file("bridge-run.yaml"));
  const ImportedRun script(run_file("bridge-run.sh"));
  EXPECT_THAT(yaml.messages(), IsEmpty());
  EXPECT_THAT(script.messages(), IsEmpty());
  EXPECT_GE(yaml.keys.size(), 40U);
  EXPECT_EQ(yaml.all(), script.all());
}

TEST(BridgeFile, ValuesHaveThePlacesOfTheirKeys) {
  const ImportedRun run = run_of("  tensor_model_parallel_size: 4\n");
  EXPECT_EQ(run.origins.at("parallel.tp"), "run.yaml:5");
  EXPECT_EQ(run.origins.at("model.hidden_size"), "run.yaml:3");
  EXPECT_EQ(run.origins.at("model.activation"), "Megatron-Bridge's default");
}

// transformer_config.py and gpt_provider.py.
TEST(BridgeFile, WhatIsNotGivenIsAsInMegatronBridge) {
  const ImportedRun run = run_of("  bf16: true\n  vocab_size: 1000\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.assumed, IsSupersetOf(Keys{{"model.ffn_hidden_size", "1024"},  // 4 x 256
                                             {"model.bias", "all"},
                                             {"model.hidden_dropout", "0.1"},
                                             {"model.make_vocab_size_divisible_by", "1"},
                                             {"training.cross_entropy", "split-fused"},
                                             {"training.transformer_impl", "transformer_engine"},
                                             {"training.grad_reduce_dtype", "bf16"},
                                             {"parallel.zero.stage", "0"}}));
  const ImportedRun gated = run_of("  gated_linear_unit: true\n");
  EXPECT_EQ(gated.assumed.at("model.ffn_hidden_size"), "1024");  // not 8h/3, as Megatron-LM's parser has it
}

TEST(BridgeFile, OverridesOfARecipeSetNothingElse) {
  const ImportedRun run(
      "train:\n  global_batch_size: 256\n  micro_batch_size: 4\nmodel:\n  tensor_model_parallel_size: 2\n"
      "  pipeline_model_parallel_size: 2\nscheduler:\n  lr_warmup_iters: 1000\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.assumed, IsEmpty());
  EXPECT_EQ(run.keys, (Keys{{"parallel.tp", "2"},
                            {"parallel.pp", "2"},
                            {"training.global_batch", "256"},
                            {"training.micro_batch", "4"}}));
  const ImportedRun early(
      "model_config:\n  context_parallel_size: 2\nddp_config:\n  use_distributed_optimizer: true\n");
  EXPECT_THAT(early.messages(), IsEmpty());
  EXPECT_EQ(early.keys, (Keys{{"parallel.cp", "2"}, {"parallel.zero.stage", "1"}}));
  const ImportedRun nested("ConfigContainer:\n  model:\n    num_layers: 4\nperf_matrix:\n  h100: {tp: 2}\n");
  EXPECT_THAT(nested.messages(), ElementsAre("4:1 W135: perf_matrix is unknown and left out"));
  EXPECT_EQ(nested.keys, (Keys{{"model.num_layers", "4"}}));
}

TEST(BridgeFile, ALogAroundTheConfigurationIsLeftOut) {
  const ImportedRun run(
      "INFO:setup: 8 ranks\nmodel: loading\n_target_: megatron.bridge.training.config.ConfigContainer\nmodel:\n"
      "  num_layers: 4\n  recompute_modules:\n  - core_attn\ntrain:\n  global_batch_size: 8\n\n"
      "> building the model ...\ntrain: iteration 1\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_EQ(run.keys, (Keys{{"model.num_layers", "4"}, {"training.global_batch", "8"}}));
  EXPECT_EQ(run.origins.at("model.num_layers"), "run.yaml:5");
}

TEST(BridgeFile, LatentAttentionHasNoGroupsAndNoSizeOfHeads) {
  const ImportedRun run = run_of(
      "  multi_latent_attention: true\n  kv_lora_rank: 64\n  q_lora_rank: 96\n  qk_head_dim: 32\n"
      "  kv_channels: 64\n  num_query_groups: 8\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.keys, IsSupersetOf(Keys{{"model.kv_lora_rank", "64"}, {"model.q_lora_rank", "96"}}));
  EXPECT_THAT(run.all(), Not(Contains(Pair("model.kv_channels", testing::_))));
  EXPECT_THAT(run.all(), Not(Contains(Pair("model.num_query_groups", testing::_))));
}

// They are in every dump, with Megatron-Core's defaults.
TEST(BridgeFile, SizesOfLayersThatTheModelHasNotAreLeftOut) {
  const ImportedRun run = run_of(
      "  mamba_state_dim: 128\n  moe_layer_freq: 1\n  moe_flex_dispatcher_backend: deepep\n  window_size: null\n"
      "  window_attn_skip_freq: 2\n  linear_attention_freq: 4\n  tp_comm_overlap_ag: false\n  moe_router_topk: 2\n"
      "  experimental_attention_variant: null\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  for (const char* key : {"model.mamba_state_dim", "model.moe_router_topk", "model.window_attn_skip_freq",
                          "parallel.tp_comm_overlap_ag", "parallel.moe_flex_dispatcher_backend"}) {
    EXPECT_FALSE(run.all().contains(key)) << key;
  }
}

TEST(BridgeFile, TheTokenizersVocabularyIsTakenWhereTheModelHasNone) {
  const std::string tokenizer = "tokenizer:\n  vocab_size: 32000\n";
  EXPECT_EQ(run_of("  vocab_size: null\n", tokenizer).keys.at("model.vocab_size"), "32000");
  const ImportedRun own = run_of("  vocab_size: 50000\n  should_pad_vocab: true\n", tokenizer);
  EXPECT_EQ(own.keys.at("model.vocab_size"), "50000");
  EXPECT_FALSE(own.all().contains("model.make_vocab_size_divisible_by"));  // 128, also here
}

TEST(BridgeFile, WindowsAndLayoutsAreWrittenAsOnTheCommandLine) {
  const ImportedRun run = run_of(
      "  window_size: [127, 0]\n  window_attn_skip_freq: 2\n  pipeline_model_parallel_size: 2\n"
      "  pipeline_model_parallel_layout: [[embedding, decoder, decoder], [decoder, mtp, loss]]\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_EQ(run.keys.at("model.sliding_window"), "128");
  EXPECT_EQ(run.keys.at("parallel.pipeline_model_parallel_layout"), "Ett|tmL");
  EXPECT_EQ(run_of("  pipeline_model_parallel_layout: Et|t*7L\n").keys.at("parallel.pipeline_model_parallel_layout"),
            "Et|t*7L");
  EXPECT_THAT(
      run_of("  pipeline_model_parallel_layout: [[embeding]]\n").messages(),
      ElementsAre("5:37 E144: model.pipeline_model_parallel_layout has a layer 'embeding' | embedding, decoder, "
                  "mtp or loss"));
}

TEST(BridgeFile, UnknownKeysAreReportedWithTheNearest) {
  EXPECT_THAT(run_of("  tensor_model_paralel_size: 4\n").messages(),
              ElementsAre("5:3 W135: model.tensor_model_paralel_size is unknown and left out; did you mean "
                          "tensor_model_parallel_size?"));
  EXPECT_THAT(run_of("", "trian: {global_batch_size: 8}\n").messages(),
              ElementsAre("5:1 W135: trian is unknown and left out; did you mean train?"));
  EXPECT_THAT(run_of("  wonderful_new_kernel: true\n").messages(),
              ElementsAre("5:3 W135: model.wonderful_new_kernel is unknown and left out"));
  // Options of other versions that are off are named together.
  EXPECT_THAT(run_of("  wonderful_new_kernel: false\n  quantum_attention: null\n").messages(),
              ElementsAre("5:3 W135: 2 keys of the file are unknown, null or false, and left out: "
                          "model.wonderful_new_kernel, model.quantum_attention"));
}

TEST(BridgeFile, WhatIsNotModelledIsReportedWhereItIsOn) {
  EXPECT_THAT(run_of("  cuda_graph_impl: none\n  fp32_residual_connection: false\n  qk_l2_norm: null\n").messages(),
              IsEmpty());
  EXPECT_THAT(
      run_of("  cuda_graph_impl: transformer_engine\n", "peft: {_target_: megatron.bridge.peft.lora.LoRA}\n")
          .messages(),
      testing::UnorderedElementsAre(
          "5:3 W136: model.cuda_graph_impl is not modelled: kernels are launched one by one; see compute.cuda_graphs",
          HasSubstr("6:1 W136: peft is not modelled: all weights are trained")));
  EXPECT_THAT(run_of("", "train: {rampup_batch_size: [16, 8, 1000]}\n").messages(),
              ElementsAre(HasSubstr("W136: train.rampup_batch_size is not modelled")));
  EXPECT_THAT(
      run_of("  activation_func: {_target_: megatron.core.activations.squared_relu, _call_: false}\n").messages(),
      ElementsAre("5:3 W136: model.activation_func is not modelled: the MLP is modelled with GELU"));
}

TEST(BridgeFile, MegatronFsdpIsAStageOfZero) {
  const std::string strategy =
      "ddp: {data_parallel_sharding_strategy: optim_grads_params, grad_reduce_in_fp32: true}\n";
  const ImportedRun run = run_of("", strategy + "dist: {use_megatron_fsdp: true}\n");
  EXPECT_THAT(run.messages(),
              ElementsAre(HasSubstr("6:8 W136: dist.use_megatron_fsdp is not modelled: it is the stage")));
  EXPECT_EQ(run.keys.at("parallel.zero.stage"), "3");
  EXPECT_EQ(run_of("", strategy).assumed.at("parallel.zero.stage"), "0");  // of Megatron-FSDP alone
}

TEST(BridgeFile, WrongValuesAreErrorsAtTheirPlace) {
  EXPECT_THAT(run_of("  normalization: RMSnorm\n").messages(),
              ElementsAre("5:18 E144: model.normalization is 'RMSnorm'; did you mean 'RMSNorm'? | one of: LayerNorm, "
                          "RMSNorm"));
  EXPECT_THAT(run_of("  tensor_model_parallel_size: four\n").messages(),
              ElementsAre("5:31 E144: model.tensor_model_parallel_size is 'four', which is not a whole number"));
  EXPECT_THAT(run_of("  sequence_parallel: maybe\n").messages(),
              ElementsAre("5:22 E144: model.sequence_parallel is 'maybe'; true or false is expected"));
  EXPECT_THAT(run_of("  recompute_granularity: full\n").messages(),
              ElementsAre("5:26 E144: Megatron-LM refuses model.recompute_granularity full without "
                          "model.recompute_method | give model.recompute_method uniform or block"));
  EXPECT_THAT(run_of("  num_moe_experts: {count: 8}\n").messages(),
              ElementsAre(HasSubstr("E144: model.num_moe_experts is a map; a value is expected")));
  EXPECT_THAT(run_of("", "ddp: [overlap_grad_reduce]\n").messages(),
              ElementsAre("5:6 E144: ddp is '[overlap_grad_reduce]'; a map of keys is expected"));
  EXPECT_THAT(ImportedRun("model:\n  num_layers: 4\n  num_layers: 8\n").messages(),
              ElementsAre(HasSubstr("E103: duplicate key")));
  EXPECT_THAT(ImportedRun("model: {}\nlogger: {log_interval: 1}\n").messages(),
              ElementsAre(HasSubstr("E144: no key of it sets anything")));
}

TEST(BridgeFile, ContradictionsAreErrors) {
  EXPECT_THAT(run_of("  seq_length: 4096\n", "dataset:\n  sequence_length: 8192\n").messages(),
              ElementsAre("7:20 E144: dataset.sequence_length is 8192, but model.seq_length is 4096 | the model and "
                          "its samples have one length"));
  EXPECT_THAT(run_of("  bf16: true\n  fp16: true\n").messages(),
              ElementsAre("6:3 E144: model.bf16 and model.fp16 contradict each other | give one of them"));
  EXPECT_THAT(run_of("  fp8: hybrid\n  fp4: e2m1\n").messages(),
              ElementsAre("6:8 E144: model.fp8 and model.fp4 contradict each other | set one of them to null"));
}

}  // namespace
}  // namespace ringwright::configs::bridge_file_test
