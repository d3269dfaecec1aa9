#include "validation/training/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"

namespace ringwright::validation::scenario_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TrainingConventions conventions() {
  TrainingConventions result{.folder = "/conventions"};
  result.sources.push_back({.name = "korth", .title = "Korthikanti", .stack = "megatron.yaml"});
  result.frameworks.push_back({{.words = {"NeMo"}}, "nemo.yaml"});
  result.machines.push_back({{.words = {"GB200"}}, "gb200-nvl72", "gb200", 0, 72, 4, 4, 2});
  result.machines.push_back({{.words = {"A100"}}, "dgx-a100", "a100-sxm4-80gb"});
  result.models.push_back({{.words = {"gpt", "cut"}}, "gpt3-175b", true, {{"first_k_dense_replace", "1"}}});
  result.models.push_back({{.words = {"gpt"}}, "gpt3-175b", true, {}});
  result.vocabulary = *read_vocabulary(shipped_folder("training") + "/words.yaml");
  return result;
}

TrainingRow full_row() {
  TrainingRow row;
  row.id = "korth-001";
  row.model = "gpt3-175b";
  row.gpu = "A100-SXM4-80GB";
  row.nic = "8x200Gbps HDR IB per node";
  row.recompute = "full";
  row.precision = "fp16";
  row.gpus = 64;
  row.gpus_per_node = 8;
  row.layers = 96;
  row.hidden = 12288;
  row.heads = 96;
  row.ffn = 49152;
  row.sequence = 2048;
  row.tp = 8;
  row.pp = 8;
  row.virtual_stages = 3;
  row.micro_batch = 1;
  row.global_batch = 64;
  return row;
}

std::string yaml_of(const TrainingRow& row) {
  const auto scenario = make_scenario(row, conventions());
  return scenario ? scenario->yaml : "refused: " + scenario.error().reason;
}

// 4 GB/s of a host are 32 Gb/s of it, 4 for each of eight cards; what is slower anyway stays.
TEST(TrainingScenario, ATransportMayLeaveLessThanTheCards) {
  TrainingConventions given = conventions();
  given.nics = {{{.words = {"TCP"}}, 32.0}};
  TrainingRow row = full_row();
  const auto nic_of = [&](const std::string& words) {
    row.nic = words;
    const auto scenario = make_scenario(row, given);
    return scenario ? scenario->yaml.substr(scenario->yaml.find("nic:"), 40) : scenario.error().reason;
  };
  EXPECT_THAT(nic_of("8x200Gbps, NCCL over TCP"), HasSubstr("{count: 8, bandwidth: 4Gbps}"));
  EXPECT_THAT(nic_of("8x2Gbps, NCCL over TCP"), HasSubstr("{count: 8, bandwidth: 2Gbps}"));
  EXPECT_THAT(nic_of("8x200Gbps HDR IB"), HasSubstr("{count: 8, bandwidth: 200Gbps}"));
}

TEST(TrainingScenario, SetsTheRowsValuesOnTopOfItsStack) {
  const std::string yaml = yaml_of(full_row());
  EXPECT_THAT(yaml, HasSubstr("extends: \"/conventions/megatron.yaml\""));
  EXPECT_THAT(yaml, HasSubstr("nodes: 8"));
  EXPECT_THAT(yaml, HasSubstr("preset: dgx-a100"));
  EXPECT_THAT(yaml, HasSubstr("nic: {count: 8, bandwidth: 200Gbps}"));
  EXPECT_THAT(yaml, HasSubstr("num_layers: 96, hidden_size: 12288, num_attention_heads: 96"));
  EXPECT_THAT(yaml, HasSubstr("max_position_embeddings: 2048"));
  EXPECT_THAT(yaml, HasSubstr("schedule: interleaved-1f1b, virtual_stages: 3"));
  EXPECT_THAT(yaml, HasSubstr("global_batch: 64, micro_batch: 1, precision: fp16, recompute: full"));
}

TEST(TrainingScenario, OneHostNeedsNoCards) {
  TrainingRow row = full_row();
  row.gpus = 8;
  row.pp = row.virtual_stages = 1;
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("nic")));
}

TEST(TrainingScenario, TwoOfMicroBatchGlobalBatchAndAccumulationGiveTheThird) {
  TrainingRow row = full_row();
  row.pp = 4;  // dp 2
  row.micro_batch.reset();
  row.accumulation = 8;
  EXPECT_THAT(yaml_of(row), HasSubstr("micro_batch: 4"));  // 64 / (2 x 8)
  row.micro_batch = 2;
  row.global_batch.reset();
  EXPECT_THAT(yaml_of(row), HasSubstr("global_batch: 32"));  // 2 x 2 x 8
}

TEST(TrainingScenario, MissingValuesAreListedAsAssumed) {
  TrainingRow row = full_row();
  row.micro_batch.reset();
  row.nic = "not stated";
  const auto scenario = make_scenario(row, conventions());
  ASSERT_TRUE(scenario);
  EXPECT_THAT(scenario->assumed, Contains("one sequence a microbatch"));
  EXPECT_THAT(scenario->assumed, Contains("network cards as the host's preset has them"));
}

TEST(TrainingScenario, LayersThatDoNotDivideLeaveRoomForEmbeddingAndLogits) {
  TrainingRow row = full_row();
  row.virtual_stages = 1;
  row.layers = 70;  // 70 + 2 = 8 x 9
  EXPECT_THAT(yaml_of(row), HasSubstr("stage_layers: trim-ends"));
  row.layers = 75;  // 8 x 9 + 3: the middle has the rest
  EXPECT_THAT(yaml_of(row), HasSubstr("layers_per_part: [9, 9, 10, 10, 10, 9, 9, 9]"));
}

TEST(TrainingScenario, ASourceMayStateHowUnevenLayersAreSpread) {
  TrainingConventions changed = conventions();
  changed.sources[0].uneven_layers = "filled";
  TrainingRow row = full_row();
  row.virtual_stages = 1;
  row.layers = 75;
  const auto scenario = make_scenario(row, changed);
  ASSERT_TRUE(scenario.has_value());
  EXPECT_THAT(scenario->yaml, HasSubstr("stage_layers: filled"));
  EXPECT_THAT(scenario->yaml, testing::Not(HasSubstr("layers_per_part")));
}

TEST(TrainingScenario, ARackIsFilledEvenly) {
  TrainingRow row = full_row();
  row.gpu = "NVIDIA Blackwell GPU (GB200)";
  row.gpus = 512;
  row.gpus_per_node = 4;
  const std::string yaml = yaml_of(row);  // 8 domains of 64, not 7.1 of 72
  EXPECT_THAT(yaml, HasSubstr("gpus: 64"));
  EXPECT_THAT(yaml, HasSubstr("nodes: 8"));
  EXPECT_THAT(yaml, HasSubstr("fabric: {rails: 4}")) << "those of a tray";
  EXPECT_THAT(yaml, HasSubstr("sockets: 32")) << "16 trays of two";
}

// Ten GPUs leave two of each domain, half a tray with half of its four cards.
TEST(TrainingScenario, PartOfATrayHasPartOfItsCards) {
  TrainingRow row = full_row();
  row.gpu = "GB200";
  row.gpus = 10;
  row.tp = row.pp = row.virtual_stages = 1;
  row.global_batch = 10;
  row.nic = "4x400Gbps";
  EXPECT_THAT(yaml_of(row), HasSubstr("gpus: 2, nic: {count: 2, bandwidth: 400Gbps}"));
}

TEST(TrainingScenario, AccumulationDecidesWhereTheBatchDoesNotDivide) {
  TrainingRow row = full_row();
  row.pp = 4;  // dp 2
  row.virtual_stages.reset();
  row.micro_batch = 2;
  row.accumulation = 16;
  row.global_batch = 46;
  EXPECT_THAT(yaml_of(row), HasSubstr("global_batch: 64"));  // 2 x 2 x 16
}

TEST(TrainingScenario, ABatchThatIsNotStatedIsOneMicrobatchARankWithoutAPipeline) {
  TrainingRow row = full_row();
  row.global_batch.reset();
  EXPECT_THAT(yaml_of(row), HasSubstr("refused: the source does not state the global batch"));
  row.pp = 1;
  row.virtual_stages.reset();
  EXPECT_THAT(yaml_of(row), HasSubstr("global_batch: 8"));  // dp 8
}

TEST(TrainingScenario, FewerRanksMayShareACopy) {
  TrainingRow row = full_row();
  row.tp = row.pp = 1;
  row.virtual_stages.reset();
  row.sharding = "FSDP=16";
  EXPECT_THAT(yaml_of(row), HasSubstr("sharding_strategy: hybrid_shard, shard_degree: 16"));
  row.sharding = "FSDP=64";
  EXPECT_THAT(yaml_of(row), HasSubstr("sharding_strategy: full_shard"));
}

TEST(TrainingScenario, EverySecondLayerIsAsMuchWorkAsTheFirstHalf) {
  TrainingRow row = full_row();
  row.virtual_stages.reset();
  row.recompute = "selective layer";  // 96 layers on 8 stages
  EXPECT_THAT(yaml_of(row), HasSubstr("recompute: full, recompute_method: block, recompute_num_layers: 6"));
  row.recompute = "moe_act, layernorm";
  EXPECT_THAT(yaml_of(row), HasSubstr("recompute: selective, recompute_modules: [layernorm, moe_act]"));
}

TEST(TrainingScenario, AModelThatIsNotModelledIsRefusedWithTheReason) {
  TrainingConventions known = conventions();
  known.models.insert(known.models.begin(), {{.words = {"gpt"}}, "gpt3-175b", true, {}, "it is of springs"});
  EXPECT_EQ(make_scenario(full_row(), known).error().reason, "'gpt3-175b' cannot be simulated: it is of springs");
}

TEST(TrainingScenario, TheFrameworkNamesTheStackOfUnknownSources) {
  TrainingRow row = full_row();
  row.id = "other-1";
  row.framework = "NeMo 25.02";
  EXPECT_THAT(yaml_of(row), HasSubstr("nemo.yaml"));
}

TEST(TrainingScenario, ExpertsGetTheLayoutThatMegatronNeeds) {
  TrainingRow row = full_row();
  row.experts = 8;
  row.ep = 8;  // tp 8 x ep 8 is more than the 8 ranks of one of 8 stages
  EXPECT_THAT(yaml_of(row), HasSubstr("sequence_parallel: true, etp: 1"));
  row.ep = 1, row.etp = 1;  // stated: not Megatron's default, which is tp
  EXPECT_THAT(yaml_of(row), HasSubstr("etp: 1"));
}

TEST(TrainingScenario, AModelMayDifferFromItsPreset) {
  TrainingRow row = full_row();
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("first_k_dense_replace")));
  row.model = "gpt-cut";
  EXPECT_THAT(yaml_of(row), HasSubstr("first_k_dense_replace: 1"));
}

TEST(TrainingScenario, NotesMayStateThatOnlyAdaptersAreTrained) {
  TrainingConventions with_adapters = conventions();
  with_adapters.models.insert(with_adapters.models.begin(),
                              {{.words = {"gpt", "lora"}}, "gpt3-175b", false, {{"lora.rank", "32"}}});
  TrainingRow row = full_row();
  EXPECT_THAT(make_scenario(row, with_adapters)->yaml, Not(HasSubstr("lora")));
  row.notes = "fine-tune LoRA packed";
  EXPECT_THAT(make_scenario(row, with_adapters)->yaml, HasSubstr("lora: {rank: 32}"));
}

TEST(TrainingScenario, GemmsInFp8LeaveTheRestAsItIs) {
  TrainingRow row = full_row();
  row.precision = "fp8 rowwise";
  EXPECT_THAT(yaml_of(row), HasSubstr("precision: bf16, fp8_recipe: rowwise"));
}

TEST(TrainingScenario, ExchangesOverlapGemmsWhereTheRowStatesItAndTheSequenceIsSplit) {
  TrainingRow row = full_row();
  row.overlap = "ub_tp_comm_overlap";
  row.sequence_parallel = 1;
  EXPECT_THAT(yaml_of(row), HasSubstr("tp_comm_overlap: true"));
  row.overlap = "TP_COMM_OVERLAP=0";
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("tp_comm_overlap")));
  row.overlap = "ub_tp_comm_overlap";
  row.sequence_parallel = 0;
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("tp_comm_overlap")));
  row.sequence_parallel = 1;
  row.notes = "fine-tune LoRA packed";
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("tp_comm_overlap"))) << "adapters need the whole input";
  row.notes.clear();
  row.tp = 1;
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("tp_comm_overlap")));
}

TEST(TrainingScenario, AVersionOfTheSoftwareMayOverlapByDefault) {
  TrainingRow row = full_row();
  row.sequence_parallel = 1;
  row.overlap.clear();
  row.where = "table of Pretraining";
  TrainingConventions overlapping = conventions();
  overlapping.sources.insert(overlapping.sources.begin(), {.name = row.source(), .stack = "nemo.yaml"});
  EXPECT_THAT(make_scenario(row, overlapping)->yaml, Not(HasSubstr("tp_comm_overlap")));
  overlapping.sources[0].versions.push_back({{.words = {"pretraining"}}, "", true});
  const auto scenario = make_scenario(row, overlapping);
  EXPECT_THAT(scenario->yaml, HasSubstr("tp_comm_overlap: true"));
  EXPECT_THAT(scenario->assumed, testing::Contains(HasSubstr("concurrent with GEMMs")));
  row.overlap = "no TP overlap";
  EXPECT_THAT(make_scenario(row, overlapping)->yaml, Not(HasSubstr("tp_comm_overlap")));
}

TEST(TrainingScenario, RefusesWithTheReason) {
  TrainingRow row = full_row();
  row.gpu = "TPU v6e";
  EXPECT_EQ(yaml_of(row), "refused: there is no preset for the GPU 'TPU v6e'");
  row = full_row();
  row.tp = 6;
  EXPECT_EQ(yaml_of(row), "refused: tp 6 x pp 8 x cp 1 does not divide 64 GPUs");
  row = full_row();
  row.layers.reset();
  EXPECT_THAT(yaml_of(row), HasSubstr("no number of layers"));
  row = full_row();
  row.gpus.reset();
  EXPECT_THAT(yaml_of(row), HasSubstr("does not state the number of GPUs"));
  row = full_row();
  row.id = "other-1";
  row.framework = "PaxML";
  EXPECT_THAT(yaml_of(row), HasSubstr("no conventions are known for the framework 'PaxML'"));
}

TEST(TrainingScenario, ASourceMayStateHowManyHeadsAllOfItsRowsHave) {
  TrainingConventions changed = conventions();
  changed.sources[0].heads = 64;
  TrainingRow row = full_row();
  row.heads.reset();
  EXPECT_THAT(make_scenario(row, changed)->yaml, HasSubstr("num_attention_heads: 64"));
  EXPECT_THAT(yaml_of(row), HasSubstr("num_attention_heads: 96"));  // 12288 / 128
}

TEST(TrainingScenario, TheScheduleOfARowMayNameItsVersion) {
  TrainingConventions known = conventions();
  known.sources[0].versions.push_back({{.words = {"zb"}}, "zero.yaml"});
  TrainingRow row = full_row();
  row.schedule = "1F1B";
  EXPECT_THAT(make_scenario(row, known)->yaml, HasSubstr("megatron.yaml"));
  row.schedule = "ZB-1p";
  EXPECT_THAT(make_scenario(row, known)->yaml, HasSubstr("zero.yaml"));
}

TEST(TrainingScenario, TheRecomputationOfASourceOverridesItsColumn) {
  TrainingConventions known = conventions();
  known.sources[0].recompute = "none";
  const auto scenario = make_scenario(full_row(), known);
  ASSERT_TRUE(scenario);
  EXPECT_THAT(scenario->yaml, HasSubstr("recompute: none"));
  EXPECT_THAT(scenario->assumed, Contains(HasSubstr("its column states: full")));
}

TEST(TrainingScenario, AVersionMayHaveAStackOfItsOwn) {
  TrainingConventions versions = conventions();
  versions.sources[0].versions = {{{.words = {"2025"}}, "new.yaml"}};
  TrainingRow row = full_row();
  row.where = "table of 2025";
  EXPECT_THAT(make_scenario(row, versions)->yaml, HasSubstr("extends: \"/conventions/new.yaml\""));
  EXPECT_THAT(make_scenario(full_row(), versions)->yaml, HasSubstr("extends: \"/conventions/megatron.yaml\""));
}

TEST(TrainingScenario, ACompilerFusesWhatAStackRunsEagerly) {
  TrainingRow row = full_row();
  row.overlap = "FSDP+compile";
  EXPECT_THAT(yaml_of(row), HasSubstr("pointwise: fused"));
}

// PyTorch shards over data- and context-parallel ranks together, also where there are only the latter.
TEST(TrainingScenario, ContextParallelRanksShareShards) {
  TrainingRow row = full_row();
  row.pp = row.virtual_stages = 1;
  row.cp = 8;  // dp 1
  row.sharding = "FSDP2";
  EXPECT_THAT(yaml_of(row), HasSubstr("sharding_strategy: full_shard"));
}

TEST(TrainingScenario, AFrameworkMayRunFsdpInItsOwnWay) {
  TrainingConventions own = conventions();
  own.fsdp = {{{.words = {"titan"}},
               {{"parallel.fsdp.wrap_ends", "true"}},
               {{"parallel.fsdp.sharding_strategy", "shard_grad_op"}, {"parallel.fsdp.no_sync", "true"}}}};
  TrainingRow row = full_row();
  row.gpus = 128;
  row.sharding = "FSDP2";
  row.framework = "titan 0.1";
  EXPECT_THAT(make_scenario(row, own)->yaml,
              HasSubstr("fsdp: {sharding_strategy: shard_grad_op, wrap_ends: true, no_sync: true}"));
  row.pp = row.virtual_stages = 1;
  EXPECT_THAT(make_scenario(row, own)->yaml, HasSubstr("fsdp: {sharding_strategy: full_shard, wrap_ends: true}"));
  row.framework = "another";
  EXPECT_THAT(make_scenario(row, own)->yaml, HasSubstr("fsdp: {sharding_strategy: full_shard}"));
  row.framework = "titan 0.1";
  row.sharding = "ZeRO-2";
  EXPECT_THAT(make_scenario(row, own)->yaml, Not(HasSubstr("fsdp")));
}

TEST(TrainingScenario, WordsThatAreNotKnownLeaveTheStacksSettings) {
  TrainingRow row = full_row();
  row.precision = "posit16";
  row.recompute = "partially";
  const auto scenario = make_scenario(row, conventions());
  ASSERT_TRUE(scenario);
  EXPECT_THAT(scenario->yaml, AllOf(Not(HasSubstr("precision")), Not(HasSubstr("recompute"))));
  EXPECT_THAT(scenario->assumed, AllOf(Contains(HasSubstr("the words 'posit16' in column precision are not known")),
                                       Contains(HasSubstr("the words 'partially' in column recompute"))));
}

TEST(TrainingScenario, TheGpuMayDetermineTheVersion) {
  TrainingConventions given = conventions();
  given.sources.front().versions = {{{.words = {"H100"}}, "on-h100.yaml"}, {{.words = {"A100"}}, "on-a100.yaml"}};
  EXPECT_THAT(make_scenario(full_row(), given)->yaml, HasSubstr("on-a100.yaml"));
}

TEST(TrainingScenario, AnOptimizerOnTheCpuIsOffloaded) {
  TrainingRow row = full_row();
  row.pp = row.virtual_stages = 1;
  row.sharding = "ZeRO-3 + CPU AdamW offload";
  EXPECT_THAT(yaml_of(row), HasSubstr("offload_optimizer"));
  row.sharding = "ZeRO-3";
  EXPECT_THAT(yaml_of(row), Not(HasSubstr("offload_optimizer")));
}

}  // namespace
}  // namespace ringwright::validation::scenario_test
