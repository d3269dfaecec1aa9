#include "configs/scenario/imports/hydra/nemo_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/hydra/imported_run.h"

namespace ringwright::configs::nemo_file_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;
using Keys = std::map<std::string, std::string>;

// Six lines, then those of the model.
ImportedRun run_of(const std::string& model, const std::string& more = "") {
  return ImportedRun(
      "trainer: {num_nodes: 2, devices: 8, precision: bf16}\nmodel:\n  num_layers: 8\n  hidden_size: 256\n"
      "  megatron_amp_O2: true\n  gradient_accumulation_fusion: true\n" +
      model + more);
}

TEST(NemoFile, AConfigurationIsTheCommandLineOfTheSameRun) {
  const ImportedRun yaml(run_file("nemo-run.yaml"));
  const ImportedRun script(run_file("nemo-run.sh"));
  EXPECT_THAT(yaml.messages(), IsEmpty());
  EXPECT_THAT(script.messages(), IsEmpty());
  EXPECT_GE(yaml.keys.size(), 35U);
  EXPECT_EQ(yaml.all(), script.all());
}

TEST(NemoFile, TheTrainerHasTheMachineAndTheType) {
  const ImportedRun run = run_of("");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.keys,
              IsSupersetOf(Keys{{"cluster.nodes", "2"}, {"cluster.node.gpus", "8"}, {"training.precision", "bf16"}}));
  const std::string model = "model: {num_layers: 2}\n";
  EXPECT_EQ(ImportedRun("trainer: {devices: [0, 1, 2, 3], precision: 16-mixed}\n" + model).keys.at("cluster.node.gpus"),
            "4");
  EXPECT_FALSE(ImportedRun("trainer: {devices: auto}\n" + model).all().contains("cluster.node.gpus"));
  EXPECT_THAT(ImportedRun("trainer: {precision: bf8}\n" + model).messages(),
              ElementsAre("1:22 E144: trainer.precision is 'bf8' | one of: bf16, bf16-mixed, 16, 16-mixed, 32"));
  EXPECT_THAT(ImportedRun("trainer: {accumulate_grad_batches: 4}\n" + model).messages(),
              ElementsAre(HasSubstr("W136: trainer.accumulate_grad_batches is not modelled")));
}

// megatron_base_model.py and Apex.
TEST(NemoFile, WhatIsNotGivenIsAsInNemo) {
  const ImportedRun run = ImportedRun("trainer: {precision: 32}\nmodel:\n  num_layers: 8\n  hidden_size: 256\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.assumed, IsSupersetOf(Keys{{"model.activation", "gelu"},
                                             {"model.normalization", "layernorm"},
                                             {"model.ffn_hidden_size", "1024"},  // 4 x 256
                                             {"training.precision", "fp32"},
                                             {"training.gradient_accumulation", "separate"},
                                             {"parallel.zero.stage", "0"}}));
  EXPECT_EQ(run.origins.at("model.activation"), "NeMo's default");
}

TEST(NemoFile, AConfigurationWithoutAShapeSetsNothingElse) {
  const ImportedRun run("trainer: {num_nodes: 2}\nmodel:\n  tensor_model_parallel_size: 2\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_EQ(run.all(), (Keys{{"cluster.nodes", "2"}, {"parallel.tp", "2"}}));
}

// As in MLPerf's submissions, whose model comes from elsewhere.
TEST(NemoFile, TheLengthOfATableOfPositionsIsLeftToTheModel) {
  const ImportedRun run("trainer: {num_nodes: 2}\nmodel:\n  encoder_seq_length: 64\n  max_position_embeddings: 64\n");
  EXPECT_EQ(run.all(), (Keys{{"cluster.nodes", "2"}, {"model.seq_length", "64"}}));
  EXPECT_EQ(run_of("  max_position_embeddings: 64\n").keys.at("model.max_position_embeddings"), "64");
}

TEST(NemoFile, OptimizersHaveTheDefaultsOfTheirLibraries) {
  const ImportedRun apex = run_of("  optim: {name: distributed_fused_adam, bucket_cap_mb: 10}\n");
  EXPECT_THAT(apex.messages(), IsEmpty());
  EXPECT_THAT(apex.keys, IsSupersetOf(Keys{{"parallel.zero.stage", "1"},
                                           {"parallel.zero.overlap_grad_reduce", "true"},
                                           {"parallel.zero.bucket", "10485760B"}}));  // 10 MiB of fp32 gradients
  EXPECT_FALSE(apex.all().contains("parallel.zero.overlap_param_gather"));
  const ImportedRun core =
      run_of("  optim: {name: mcore_distributed_optim, bucket_cap_mb: 10, overlap_param_sync: true}\n");
  EXPECT_FALSE(core.all().contains("parallel.zero.overlap_grad_reduce"));
  EXPECT_FALSE(core.all().contains("parallel.zero.bucket"));
  EXPECT_EQ(core.keys.at("parallel.zero.overlap_param_gather"), "true");
  const ImportedRun submission =
      run_of("", "optim: {use_distributed_optimizer: true}\nddp: {overlap_grad_reduce: 1}\n");
  EXPECT_THAT(submission.keys,
              IsSupersetOf(Keys{{"parallel.zero.stage", "1"}, {"parallel.zero.overlap_grad_reduce", "true"}}));
  EXPECT_THAT(run_of("  optim: {name: fused_adam}\n").assumed, Contains(Pair("parallel.zero.stage", "0")));
  EXPECT_THAT(run_of("  optim: {name: adafactor}\n").messages(),
              ElementsAre("7:11 W136: model.optim.name adafactor is not modelled: the optimizer is Adam"));
}

TEST(NemoFile, RecomputationIsRead) {
  const ImportedRun full = run_of(
      "  activations_checkpoint_granularity: full\n  activations_checkpoint_method: block\n"
      "  activations_checkpoint_num_layers: 3\n");
  EXPECT_THAT(full.messages(), IsEmpty());
  EXPECT_THAT(full.keys, IsSupersetOf(Keys{{"training.recompute", "full"},
                                           {"training.recompute_method", "block"},
                                           {"training.recompute_num_layers", "3"}}));
  // Of no layer, as the launcher's configurations have it where nothing is to be recomputed.
  const std::string selective =
      "  activations_checkpoint_granularity: selective\n  activations_checkpoint_method: block\n";
  EXPECT_EQ(run_of(selective + "  activations_checkpoint_num_layers: 0\n").assumed.at("training.recompute"), "none");
  EXPECT_THAT(run_of(selective + "  activations_checkpoint_num_layers: 2\n").messages(),
              ElementsAre("9:3 W136: model.activations_checkpoint_num_layers is not modelled with 'selective': all "
                          "layers recompute"));
  EXPECT_THAT(run_of("  activations_checkpoint_granularity: full\n").messages(),
              ElementsAre(HasSubstr("E144: Megatron-LM refuses model.activations_checkpoint_granularity full without "
                                    "model.activations_checkpoint_method")));
}

TEST(NemoFile, WordsOfNemoAreThoseOfMegatronOrReported) {
  const ImportedRun run =
      run_of("  activation: geglu\n  position_embedding_type: alibi\n  normalization: layernorm1p\n");
  EXPECT_THAT(run.messages(),
              ElementsAre("7:3 W136: model.activation geglu is not modelled: it is taken for swiglu",
                          "8:3 W136: model.position_embedding_type alibi is not modelled: it is taken for none"));
  EXPECT_THAT(run.keys, IsSupersetOf(Keys{{"model.activation", "swiglu"},
                                          {"model.position_embedding", "none"},
                                          {"model.normalization", "layernorm"}}));
  EXPECT_THAT(run_of("  normalization: rsmnorm\n").messages(),
              ElementsAre("7:18 E144: model.normalization is 'rsmnorm'; did you mean 'rmsnorm'? | one of: layernorm, "
                          "layernorm1p, low_precision_layernorm, rmsnorm"));
}

TEST(NemoFile, KeysOfMegatronCoreAreReadInTheModel) {
  const ImportedRun run = run_of(
      "  cp_comm_type: a2a\n  context_parallel_size: 2\n  use_transformer_engine_op_fuser: true\n"
      "  cpu_offloading: false\n  num_moe_experts: 8\n  moe_layer_freq: [0, 1, 1, 1, 1, 1, 1, 1]\n"
      "  overwritten_attributes: {num_layers: 16, enable_cuda_graph: false}\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.keys, IsSupersetOf(Keys{{"parallel.cp_comm_type", "a2a"},
                                          {"training.use_transformer_engine_op_fuser", "true"},
                                          {"model.first_k_dense_replace", "1"},
                                          {"model.num_layers", "16"}}));
}

TEST(NemoFile, TheVocabularyIsReadByBothNames) {
  for (const char* name : {"override_vocab_size", "vocab_size"}) {
    EXPECT_EQ(run_of("  " + std::string(name) + ": 1024\n").keys.at("model.vocab_size"), "1024") << name;
  }
}

// NeMo has words of its own for these: alone they are not silently left out.
TEST(NemoFile, KeysOfMegatronCoreThatNoRuleReadsAreReported) {
  for (const char* key :
       {"gated_linear_unit: true", "recompute_num_layers: 1", "fp16: true", "tp_comm_overlap: true"}) {
    EXPECT_THAT(run_of("  " + std::string(key) + "\n").messages(), ElementsAre(HasSubstr("is unknown and left out")))
        << key;
  }
  EXPECT_THAT(run_of("  gated_linear_unit: null\n").messages(), IsEmpty());
}

TEST(NemoFile, WhatIsNotReadIsReported) {
  EXPECT_THAT(run_of("  tensor_model_paralel_size: 2\n").messages(),
              ElementsAre("7:3 W135: model.tensor_model_paralel_size is unknown and left out; did you mean "
                          "tensor_model_parallel_size?"));
  EXPECT_THAT(run_of("  ub_tp_comm_overlap: true\n").messages(),
              ElementsAre("7:3 W131: model.ub_tp_comm_overlap has no effect: model.tensor_model_parallel_size is 1"));
  EXPECT_THAT(run_of("  fsdp: true\n  base_config: 8b\n").messages(),
              ElementsAre(HasSubstr("W136: model.fsdp is not modelled"), HasSubstr("W136: model.base_config is not")));
  EXPECT_THAT(run_of("", "defaults:\n- _self_\n- megatron_gpt_config\nmine: 3\nproxy: 4\nmisc:\n  print: ${proxy}\n")
                  .messages(),
              ElementsAre("9:3 W136: defaults names 'megatron_gpt_config': other files are not read | run with --cfg "
                          "job --resolve prints the whole configuration",
                          "10:1 W135: mine is unknown and left out"));
  EXPECT_THAT(ImportedRun("trainer: {precision: bf16}\nmodel:\n  hidden_size: 256\n  megatron_amp_O2: false\n"
                          "  gradient_accumulation_fusion: false\n")
                  .messages(),
              ElementsAre("4:3 W136: model.megatron_amp_O2 false is not modelled: weights are stored in 16 bits, main "
                          "parameters in fp32"));
}

TEST(NemoFile, ContradictionsAreErrors) {
  EXPECT_THAT(run_of("  encoder_seq_length: 2048\n  data: {seq_length: 4096}\n").messages(),
              ElementsAre("8:22 E144: model.data.seq_length is 4096, but model.encoder_seq_length is 2048 | the model "
                          "and its samples have one length"));
  EXPECT_THAT(run_of("  optim: {name: distributed_fused_adam, bucket_cap_mb: 0}\n").messages(),
              ElementsAre("7:56 E144: model.optim.bucket_cap_mb is 0 and must be 1 to 1000000"));
  EXPECT_THAT(ImportedRun("trainer: 8\nmodel: {encoder_seq_length: 8}\n").messages(),
              ElementsAre("1:10 E144: trainer is '8'; a map of keys is expected"));
}

// Only keys that are read need a value.
TEST(NemoFile, AnOpenInterpolationIsAnErrorWhereItsValueIsNeeded) {
  EXPECT_THAT(
      run_of("  tensor_model_parallel_size: ${oc.decode:${oc.env:TP}}\n  seed: ${oc.env:SEED}\n").messages(),
      ElementsAre("7:31 E144: the value of model.tensor_model_parallel_size is ${oc.decode:${oc.env:TP}}, which "
                  "this file does not set | write the value, or a default: ${oc.env:NAME,8}"));
  EXPECT_THAT(
      run_of("  sequence_parallel: ${oc.env:SP}\n").messages(),
      ElementsAre(HasSubstr("the value of model.sequence_parallel is ${oc.env:SP}, which this file does not set")));
  EXPECT_THAT(run_of("  virtual_pipeline_model_parallel_size: ???\n").messages(),
              ElementsAre(HasSubstr("model.virtual_pipeline_model_parallel_size is ???, which this file does not")));
}

}  // namespace
}  // namespace ringwright::configs::nemo_file_test
