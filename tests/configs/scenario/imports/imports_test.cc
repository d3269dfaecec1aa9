#include "configs/scenario/imports/imports.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/named_file.h"

namespace ringwright::configs::imports_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(NamedFile, DeepSpeedSaysBatchPrecisionAndSharding) {
  const auto scenario = deepspeed(R"({
    "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3,
    "bf16": {"enabled": true},
    "zero_optimization": {"stage": 3, "reduce_bucket_size": 5e7, "stage3_prefetch_bucket_size": 1e6,
                          "stage3_param_persistence_threshold": 1e4, "zero_hpz_partition_size": 4,
                          "offload_optimizer": {"device": "cpu", "pin_memory": true}}})");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.training.micro_batch, 2);
  EXPECT_EQ(scenario->job.training.global_batch, 2 * 3 * 8);
  EXPECT_EQ(scenario->job.training.grad_reduce, DataType::kBf16);
  EXPECT_TRUE(scenario->job.parallel.sharding.parameters);
  EXPECT_EQ(scenario->job.parallel.sharding.reduce_bucket, 50'000'000);
  EXPECT_EQ(scenario->job.parallel.sharding.secondary, 4);
  EXPECT_EQ(scenario->job.parallel.offload.optimizer, workload::Tier::kCpu);
  bool listed = false;
  for (const ValueRead& value : scenario->document.log().values()) {
    listed = listed || (value.path == "parallel.zero.stage" && value.origin.find("named:4") != std::string::npos);
  }
  EXPECT_TRUE(listed);  // the report states the origin of the stage
}

TEST_F(NamedFile, DeepSpeedNamesTheOptimizer) {
  const auto sgd =
      deepspeed(R"({"train_batch_size": 64, "optimizer": {"type": "SGD", "params": {"lr": 0.1, "momentum": 0.0}}})");
  ASSERT_TRUE(sgd.has_value()) << problems(sgd);
  EXPECT_EQ(sgd->job.training.optimizer.kind, workload::OptimizerKind::kSgd);
  EXPECT_DOUBLE_EQ(sgd->job.training.optimizer.state(), 4.0);
  const auto lamb = deepspeed(R"({"train_batch_size": 64, "optimizer": {"type": "Lamb", "params": {"lr": 0.1}}})");
  ASSERT_TRUE(lamb.has_value()) << problems(lamb);
  EXPECT_EQ(lamb->job.training.optimizer.kind, workload::OptimizerKind::kLamb);
  const auto other =
      deepspeed(R"({"train_batch_size": 64, "optimizer": {"type": "OneBitAdam", "params": {"lr": 0.1}}})");
  ASSERT_TRUE(other.has_value()) << problems(other);
  EXPECT_TRUE(std::ranges::any_of(other->document.log().ignored(), [](const IgnoredKey& key) {
    return key.why.find("'OneBitAdam' is not modelled") != std::string::npos;
  }));
}

TEST_F(NamedFile, DeepSpeedWithoutAPrecisionIsWarnedAbout) {
  const auto warned = [&](const std::string& file, const std::string& training) {
    return problems(deepspeed(file, training)).find("neither bf16 nor fp16 is enabled") != std::string::npos;
  };
  const std::string silent = R"({"train_batch_size": 8})";
  EXPECT_TRUE(warned(silent, ""));
  EXPECT_TRUE(warned(R"({"train_batch_size": 8, "fp16": {"enabled": false}})", ""));
  EXPECT_FALSE(warned(silent, "precision: fp32"));
  EXPECT_FALSE(warned(R"({"train_batch_size": 8, "bf16": {"enabled": "auto"}})", ""));
  EXPECT_FALSE(warned(R"({"train_batch_size": 8, "bf16": {"enabled": true}})", ""));
}

TEST_F(NamedFile, DeepSpeedCannotTrainInTwoPrecisions) {
  const auto scenario =
      deepspeed("{\"train_batch_size\": 8, \"bf16\": {\"enabled\": true},\n\"fp16\": {\"enabled\": true}}");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("named:2:9: error[E141]: bf16 and fp16 are both enabled"));
}

TEST_F(NamedFile, AnyTwoOfTheBatchTriangleGiveTheThird) {
  const auto scenario = deepspeed(R"({"train_batch_size": 64, "gradient_accumulation_steps": 4})");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.training.micro_batch, 2);  // 64 / (4 x 8)
}

TEST_F(NamedFile, AccumulationStepsCountWhereTheMicrobatchIsAuto) {
  const std::string automatic =
      R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": 4})";
  const auto scenario = deepspeed(automatic, "micro_batch: 2");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.training.global_batch, 2 * 4 * 8);
  EXPECT_THAT(problems(deepspeed(automatic, "micro_batch: 2, global_batch: 16")),
              HasSubstr("training.global_batch is 16, but "));
  const std::string whole =
      R"({"train_batch_size": 32, "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": 4})";
  const auto divided = deepspeed(whole);
  ASSERT_TRUE(divided.has_value()) << problems(divided);
  EXPECT_EQ(divided->job.training.micro_batch, 1);  // 32 / (4 x 8)
  EXPECT_THAT(problems(deepspeed(whole, "micro_batch: 2")), HasSubstr("training.micro_batch is 2, but "));
}

TEST_F(NamedFile, AutoIsWhatTheScenarioSays) {
  const auto scenario = deepspeed(
      R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}})",
      "global_batch: 16, micro_batch: 1");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.training.global_batch, 16);
  const auto missing = deepspeed(R"({"train_batch_size": "auto"})");
  EXPECT_THAT(problems(missing), HasSubstr("global_batch"));
}

TEST_F(NamedFile, AWrongTriangleIsRefused) {
  const auto scenario =
      deepspeed(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 4})");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("train_batch_size = 64, but 4 x 4 steps x 8 ranks = 128"));
}

TEST_F(NamedFile, DisagreementNamesBothPlaces) {
  const auto scenario = deepspeed("{\n\"train_micro_batch_size_per_gpu\": 2,\n\"zero_optimization\": {\"stage\": 3}}",
                                  "micro_batch: 4", "zero: {stage: 3}");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("training.micro_batch is 4, but "));
  EXPECT_THAT(problems(scenario), HasSubstr("named:2 sets 2"));
  EXPECT_THAT(problems(scenario), HasSubstr("scenario.yaml:2"));
  EXPECT_THAT(problems(scenario), testing::Not(HasSubstr("zero.stage is")));  // there they agree
}

TEST_F(NamedFile, DeepSpeedsBf16OptimizerSumsInFp32AndShardsItsState) {
  const auto scenario =
      deepspeed(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimization": {"stage": 0}})");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.training.gradient_sum, workload::GradientSum::kCopied);
  EXPECT_EQ(scenario->job.training.grad_reduce, DataType::kFp32);
  EXPECT_EQ(scenario->job.parallel.zero_stage, 1);
}

TEST_F(NamedFile, OtherOptimizersOfDeepSpeedLeaveTheSumToPyTorch) {
  const auto fp16 =
      deepspeed(R"({"train_batch_size": 8, "fp16": {"enabled": true}, "zero_optimization": {"stage": 1}})");
  ASSERT_TRUE(fp16.has_value()) << problems(fp16);
  EXPECT_EQ(fp16->job.training.gradient_sum, workload::GradientSum::kSeparate);
  EXPECT_EQ(fp16->job.parallel.zero_stage, 1);
  const auto sharded =
      deepspeed(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}})");
  ASSERT_TRUE(sharded.has_value()) << problems(sharded);
  EXPECT_EQ(sharded->job.training.gradient_sum, workload::GradientSum::kFused);
}

// runtime/zero/config.py and stage_1_and_2.py: buckets of several ranks are all-reduced, 5e8 elements at a time, and
// the update uses one tensor.
TEST_F(NamedFile, Stage2IsAsDeepSpeedRunsIt) {
  const auto scenario = deepspeed(R"({"train_batch_size": 16, "bf16": {"enabled": true},
                                      "zero_optimization": {"stage": 2, "overlap_comm": true}})");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  const workload::ParallelOptions& parallel = scenario->job.parallel;
  EXPECT_EQ(parallel.gradient_reduction, workload::GradientReduction::kMicrobatch);
  EXPECT_TRUE(parallel.allreduce_buckets && parallel.flat_gradients && parallel.overlap_grad_reduce);
  EXPECT_EQ(parallel.bucket, Bytes(2 * 500'000'000));
  const auto apart = deepspeed(R"({"train_batch_size": 16, "bf16": {"enabled": true},
                                   "zero_optimization": {"stage": 2, "use_multi_rank_bucket_allreduce": false}})");
  ASSERT_TRUE(apart.has_value()) << problems(apart);
  EXPECT_FALSE(apart->job.parallel.allreduce_buckets);
}

TEST_F(NamedFile, DeepSpeedRefusesToPartitionGradientsOfAPipeline) {
  const auto scenario = deepspeed(R"({"train_batch_size": 8, "zero_optimization": {"stage": 2}})", "", "tp: 2, pp: 2");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("DeepSpeed's pipeline engine supports only stages 0 and 1"));
}

TEST_F(NamedFile, DeepSpeedsPipelineSaysWhatItCutsAndHowItSpreadsLayers) {
  const auto scenario =
      deepspeed(R"({"train_batch_size": 8, "pipeline": {"grad_partitioned": false, "partition": "type:transformer"}})",
                "", "tp: 2, pp: 2");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_TRUE(scenario->job.parallel.scatter_gather_p2p);
  EXPECT_FALSE(scenario->job.parallel.scatter_gather_gradients);
  EXPECT_EQ(scenario->job.parallel.stage_layers, workload::StageLayers::kFilled);
}

TEST_F(NamedFile, UnknownKeysHaveANearestName) {
  const auto scenario =
      deepspeed(R"({"train_batch_size": 8, "zero_optimization": {"stage": 2, "reduce_buket_size": 1e8}})");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("reduce_bucket_size"));
}

TEST_F(NamedFile, WhatIsNotModelledIsListed) {
  const auto scenario = deepspeed(R"({"train_batch_size": 8, "gradient_clipping": 1.0,
                                      "zero_optimization": {"stage": 2, "contiguous_gradients": true}})");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  std::vector<std::string> ignored;
  for (const IgnoredKey& key : scenario->document.log().ignored()) ignored.push_back(key.path);
  EXPECT_THAT(ignored, testing::IsSupersetOf({"gradient_clipping", "zero_optimization.contiguous_gradients"}));
}

TEST_F(NamedFile, DeprecatedKeysAreReadWithAWarning) {
  const auto scenario = deepspeed(R"({"train_batch_size": 8, "zero_optimization": {"stage": 2, "cpu_offload": true}})");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.parallel.offload.optimizer, workload::Tier::kCpu);
  EXPECT_THAT(problems(scenario), HasSubstr("W142"));
}

// runtime/engine.py: without ZeRO, and with stage 1 and sums in fp32, bf16 trains with BF16_Optimizer, which knows no
// buckets.
TEST_F(NamedFile, WithoutAStageTheRestOfTheBlockHasNoEffect) {
  for (const char* zero : {R"("stage": 0, "overlap_comm": true)", R"("overlap_comm": true)"}) {
    const auto scenario = deepspeed(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimization": {)" +
                                    std::string(zero) + "}}");
    ASSERT_TRUE(scenario.has_value()) << problems(scenario);
    EXPECT_EQ(scenario->job.parallel.zero_stage, 1);
    EXPECT_FALSE(scenario->job.parallel.overlap_grad_reduce);
    EXPECT_TRUE(std::ranges::any_of(scenario->document.log().ignored(), [](const IgnoredKey& key) {
      return key.path == "zero_optimization.overlap_comm";
    }));
  }
  const auto sums = deepspeed(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimization": {"stage": 1},
                                  "data_types": {"grad_accum_dtype": "fp32"}})");
  ASSERT_TRUE(sums.has_value()) << problems(sums);
  EXPECT_EQ(sums->job.training.gradient_sum, workload::GradientSum::kCopied);
  EXPECT_EQ(sums->job.training.grad_reduce, DataType::kFp32);
}

TEST_F(NamedFile, WhatDeepSpeedRefusesIsRefusedWithItsLine) {
  struct Case {
    const char* keys;
    const char* message;
  };
  for (const Case& wrong :
       {Case{R"("bf16": {"enabled": "yes"})", "named:2:21: error[E105]: 'bf16.enabled' must be true or false"},
        Case{R"("communication_data_type": "float32")", "named:2:28: error[E107]: 'communication_data_type'"},
        Case{R"("zero_optimization": {"offload_optimizer": {"device": "cpu"}})", "needs stage 1, 2 or 3"},
        Case{R"("zero_optimization": {"stage": 4})", "named:2:32: error[E106]: 'zero_optimization.stage' is 4"},
        Case{R"("zero_optimisation": {"stage": 3})", "did you mean 'zero_optimization'?"},
        Case{R"("gradient_accumulation_steps": 3, "train_micro_batch_size_per_gpu": 1)", "1 x 3 steps x 8 ranks"},
        Case{R"("bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "bf16"})", "DeepSpeed sums in fp32"}}) {
    const auto scenario = deepspeed(std::string("{\"train_batch_size\": 8,\n") + wrong.keys + "}");
    ASSERT_FALSE(scenario.has_value()) << wrong.keys;
    EXPECT_THAT(problems(scenario), HasSubstr(wrong.message));
    EXPECT_EQ(scenario.error().all().size(), 1U + (problems(scenario).find("W134") != std::string::npos ? 1U : 0U))
        << problems(scenario);  // nothing that only follows from it
  }
}

TEST_F(NamedFile, WhatDeepSpeedKnowsAndNobodyHereIsWarnedAbout) {
  for (const auto& [keys, message] : {std::pair{R"("tensor_parallel": {"autotp_size": 2})", "autotp_size is 2"},
                                      {R"("zero_optimization": {"stage": 3}, )"
                                       R"("data_types": {"grad_accum_dtype": "fp32"})",
                                       "gradients are summed in bf16"}}) {
    EXPECT_THAT(problems(deepspeed(R"({"train_batch_size": 8, "bf16": {"enabled": 1}, )" + std::string(keys) + "}")),
                HasSubstr(message));
  }
  const auto lamb = deepspeed(R"({"train_batch_size": 8, "optimizer": {"type": "lamb"}})");
  ASSERT_TRUE(lamb.has_value()) << problems(lamb);
  EXPECT_EQ(lamb->job.training.optimizer.kind, workload::OptimizerKind::kLamb);
}

constexpr const char* kOverlap = "tp: 8, sequence_parallel: true, tp_comm_overlap: true, tp_comm_overlap_cfg: named";

// The default methods of Transformer Engine, two splits, and gradients of inputs in chunks.
TEST_F(NamedFile, UserBuffersSayHowExchangesOverlap) {
  const auto scenario = load(
      "qkv_fprop: {method: ring_exchange, aggregate: 0}\nfc1_fprop: {method: ring_exchange}\n"
      "proj_fprop: {method: pipeline, num_sm: 24, cga_size: 2, num_splits: 2, set_sm_margin: 1}\n"
      "fc2_fprop: {method: pipeline, num_sm: 16, num_splits: 2}\nqkv_dgrad: {method: pipeline, num_splits: 2}\n"
      "fc1_dgrad: {method: pipeline}\nqkv_wgrad: {method: bulk, num_sm: 4}\n",
      "global_batch: 8", kOverlap);
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  const workload::TensorOverlap& overlap = scenario->job.parallel.tensor_overlap;
  EXPECT_TRUE(overlap.gather);
  EXPECT_TRUE(overlap.scatter);
  EXPECT_TRUE(overlap.scatter_gradients);
  EXPECT_EQ(overlap.chunks, 2);
  EXPECT_THAT(problems(scenario), Not(HasSubstr("W136")));
}

TEST_F(NamedFile, UserBuffersThatDifferByGemmAreReported) {
  const auto scenario = load(
      "proj_fprop: {method: pipeline, num_splits: 2}\nfc2_fprop: {method: ring_exchange, num_splits: 4}\n"
      "qkv_fprop: {method: bulk}\nqkv_dgrad: {method: bulk}\n",
      "global_batch: 8", kOverlap);
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_FALSE(scenario->job.parallel.tensor_overlap.gather);
  EXPECT_FALSE(scenario->job.parallel.tensor_overlap.scatter_gradients);
  EXPECT_EQ(scenario->job.parallel.tensor_overlap.chunks, 2);
  for (const char* expected :
       {"tp_comm_overlap_num_splits=2", "ring_exchange is not modelled: it is simulated as pipeline",
        "bulk is not modelled: the input is gathered before its GEMM"}) {
    EXPECT_THAT(problems(scenario), HasSubstr(expected));
  }
}

TEST_F(NamedFile, UserBuffersOfNoSuchGemmAreMistakes) {
  const auto scenario = load("qkv_prop: {method: ring_exchange}\n", "global_batch: 8", kOverlap);
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("unknown key 'qkv_prop'; did you mean 'qkv_fprop'?"));
}

TEST_F(NamedFile, MegatronsFlagsMayNameUserBuffers) {
  const auto scenario = megatron("proj_fprop: {method: pipeline, num_splits: 8}\n");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.parallel.tensor_overlap.chunks, 8);
}

// Paths of scripts are often those of a container.
TEST_F(NamedFile, UserBuffersOfMegatronThatAreElsewhereAreDefaults) {
  const auto scenario = megatron("");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.parallel.tensor_overlap.chunks, 4);
  EXPECT_THAT(problems(scenario), HasSubstr("names 'ub.yaml', which is not in the folder of the scenario"));
}

TEST_F(NamedFile, AMissingFileIsAMistake) {
  const auto scenario = load("", "deepspeed: elsewhere.json, global_batch: 8", "");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(problems(scenario), HasSubstr("elsewhere.json"));
}

}  // namespace
}  // namespace ringwright::configs::imports_test
