// Keys and files of other tools instead of ours.
#include "configs/scenario/foreign_names.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"

namespace ringwright::configs::foreign_names_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string hint_of(const std::string& key) {
  Diagnostics unknown = failure("E102", "unknown key 'parallel." + key + "'; did you mean 'tp'?");
  return with_foreign_names(unknown).all().front().hint;
}

TEST(ForeignNames, ReplaceTheNearestKeyAsAGuess) {
  const Diagnostics unknown = failure("E102", "unknown key 'parallel.vpp'; did you mean 'pp'?");
  EXPECT_EQ(with_foreign_names(unknown).all().front().message, "unknown key 'parallel.vpp'");
  const Diagnostics typo = failure("E102", "unknown key 'parallel.ppp'; did you mean 'pp'?");
  EXPECT_EQ(with_foreign_names(typo).all().front().message, "unknown key 'parallel.ppp'; did you mean 'pp'?");
}

TEST(ForeignNames, OfMegatronPointToOurs) {
  EXPECT_EQ(hint_of("tensor_model_parallel_size"),
            "'tensor_model_parallel_size' is Megatron-LM's name; here it is 'parallel.tp'");
  EXPECT_THAT(hint_of("micro-batch-size"), HasSubstr("here it is 'training.micro_batch'"));
  EXPECT_THAT(hint_of("recompute_granularity"), HasSubstr("here it is 'training.recompute'"));
}

TEST(ForeignNames, OfDeepSpeedAccelerateAndNcclPointToOurs) {
  EXPECT_EQ(hint_of("train_batch_size"), "'train_batch_size' is DeepSpeed's name; here it is 'training.global_batch'");
  EXPECT_THAT(hint_of("zero_optimization"), HasSubstr("here it is 'parallel.zero'"));
  EXPECT_THAT(hint_of("fsdp_sharding_strategy"), HasSubstr("here it is 'parallel.fsdp.sharding_strategy'"));
  EXPECT_THAT(hint_of("NCCL_ALGO"), HasSubstr("here it is 'comm.env.NCCL_ALGO'"));
}

TEST(ForeignNames, OfHuggingFaceAndTorchtitanPointToOurs) {
  EXPECT_EQ(hint_of("num_key_value_heads"),
            "'num_key_value_heads' is a name of Hugging Face; here it is 'model.num_query_groups'");
  EXPECT_THAT(hint_of("tensor_parallel_degree"), HasSubstr("here it is 'parallel.tp'"));
  EXPECT_THAT(hint_of("data_parallel_shard_degree"), HasSubstr("here it is 'parallel.fsdp.shard_degree'"));
  EXPECT_THAT(hint_of("data_parallel_replicate_degree"), HasSubstr("here it is 'parallel.fsdp.replicate_degree'"));
  EXPECT_THAT(hint_of("zero_optimization"), HasSubstr("training: {deepspeed: FILE}"));
}

TEST(ForeignNames, OfCalculonAndShortFormsPointToKeysThatExist) {
  std::set<std::string> keys;
  for (const KeyDoc& key : scenario_keys()) keys.insert(key.path);
  for (const auto& [theirs, ours] : {std::pair("tensor_par", "parallel.tp"),
                                     {"pipeline_interleaving", "parallel.virtual_stages"},
                                     {"microbatch_size", "training.micro_batch"},
                                     {"attn_size", "model.kv_channels"},
                                     {"feedforward", "model.ffn_hidden_size"},
                                     {"tensor_par_overlap", "parallel.tp_comm_overlap"},
                                     {"vpp", "parallel.virtual_stages"},
                                     {"dp_size", "parallel.dp"},
                                     {"kv_heads", "model.num_query_groups"},
                                     {"sequence_length", "model.seq_length"},
                                     {"dropout", "model.hidden_dropout"},
                                     {"torch_dtype", "training.precision"},
                                     {"num_gpus", "cluster.node.gpus"}}) {
    EXPECT_THAT(hint_of(theirs), HasSubstr(std::string("here it is '") + ours + "'"));
    EXPECT_TRUE(keys.contains(ours)) << ours;
  }
}

// Wherever the key stands: at the top, in a map of ours, in a map within.
TEST(ForeignNames, ArePointedOutInWholeScenarios) {
  const auto scenario = load_scenario_text("job.yaml",
                                           "model: {preset: llama3-8b, num_hidden_layers: 32}\n"
                                           "training: {global_batch: 8, recompute_granularity: full}\n"
                                           "parallel: {tensor_model_parallel_size: 8, zero: {zero_stage: 1}}\n"
                                           "zero_optimization: {stage: 1}\n"
                                           "cluster: {nodes: 1, node: {preset: dgx-h100, nproc_per_node: 8}, "
                                           "fabric: {type: single_node}}\n");
  ASSERT_FALSE(scenario);
  const std::string refusal = render(scenario.error());
  for (const char* ours : {"'model.num_layers'", "'training.recompute'", "'parallel.tp'", "'parallel.zero.stage'",
                           "'parallel.zero', and", "'cluster.node.gpus'"}) {
    EXPECT_THAT(refusal, HasSubstr(std::string("here it is ") + ours));
  }
}

// Megatron-LM's name of it is ours: "here it is" would name the key that was just called unknown.
TEST(ForeignNames, AreNotSoughtForKeysThatOtherSettingsRead) {
  const auto scenario = load_scenario_text(
      "job.yaml",
      "model: {preset: llama3-8b, q_lora_rank: 2, max_position_embeddings: 9000}\ntraining: {global_batch: 8}\n"
      "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node, dims: [2]}}\n");
  ASSERT_FALSE(scenario);
  const std::string refusal = render(scenario.error());
  EXPECT_THAT(refusal, HasSubstr("'model.q_lora_rank' is a key of other settings than those here\n"));
  EXPECT_THAT(refusal, HasSubstr("`ringwright explain model.max_position_embeddings` describes it"));
  EXPECT_THAT(refusal, HasSubstr("'cluster.fabric.dims' is a key of other settings than those here\n"));
  EXPECT_THAT(refusal, HasSubstr("known here: type, reduction"));
  EXPECT_THAT(refusal, Not(HasSubstr("Megatron-LM")));
}

// Megatron-Bridge's configurations have fields of classes, whose names differ from the flags.
TEST(ForeignNames, OfMegatronCoreAreKnown) {
  EXPECT_EQ(foreign_name_hint("num_moe_experts"),
            "'num_moe_experts' is Megatron-Core's name; here it is 'model.num_experts'");
  EXPECT_EQ(foreign_name_hint("no_such_field"), "");
}

TEST(ForeignNames, OfNobodyKeepTheirHint) {
  EXPECT_EQ(hint_of("tensor_paralel"), "");
}

std::string refusal_of(const std::string& text) {
  const auto scenario = load_scenario_text("config.json", text);
  return scenario ? std::string() : render(scenario.error());
}

TEST(OtherFormats, AreReportedByTheirKeysWithOneError) {
  const std::string hf = refusal_of("{model_type: llama, hidden_size: 4096, num_hidden_layers: 32, vocab_size: 32000}");
  EXPECT_THAT(hf, HasSubstr("this is a Hugging Face config.json, not a scenario"));
  EXPECT_THAT(hf, HasSubstr("model: {hf: config.json}"));
  EXPECT_THAT(hf, HasSubstr("1 error, "));
  EXPECT_THAT(refusal_of("{train_micro_batch_size_per_gpu: 1}"), HasSubstr("training: {deepspeed: config.json}"));
}

// Their section has our name.
TEST(OtherFormats, WithAModelOfTheirOwnAreReported) {
  const std::string bridge = refusal_of("{model: {num_layers: 4}, train: {global_batch_size: 8}}");
  EXPECT_THAT(bridge, HasSubstr("this is a configuration of Megatron-Bridge, not a scenario"));
  EXPECT_THAT(bridge, HasSubstr("megatron: config.json"));
  EXPECT_THAT(refusal_of("{model: {encoder_seq_length: 8}, trainer: {num_nodes: 2}}"),
              HasSubstr("this is a configuration of NeMo, not a scenario"));
}

}  // namespace
}  // namespace ringwright::configs::foreign_names_test
