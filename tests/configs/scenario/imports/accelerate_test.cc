// FSDP configurations of Hugging Face accelerate.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/named_file.h"

namespace ringwright::configs::accelerate_test {
namespace {

using testing::HasSubstr;

using Accelerate = NamedFile;

TEST_F(Accelerate, AccelerateSaysHowFsdpShards) {
  const auto scenario = fsdp(
      "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config:\n"
      "  fsdp_sharding_strategy: HYBRID_SHARD\n  fsdp_backward_prefetch: BACKWARD_POST\n"
      "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  fsdp_offload_params: false\n",
      "fsdp: {shard_degree: 4}");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_EQ(scenario->job.parallel.sharding.shard, 4);
  EXPECT_EQ(scenario->job.parallel.sharding.backward_prefetch, workload::BackwardPrefetch::kPost);
}

TEST_F(Accelerate, FsdpStrategiesMayBeNumbers) {
  const auto scenario = fsdp("fsdp_config: {fsdp_sharding_strategy: 2}\n");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_FALSE(scenario->job.parallel.sharding.reshard_after_forward);
}

// Both versions shard everything by default.
TEST_F(Accelerate, FsdpShardsWhereItsFileDoesNotSayWhat) {
  for (const char* version : {"1", "2"}) {
    const std::string file = std::string("fsdp_config: {fsdp_version: ") + version + ", fsdp_offload_params: false}\n";
    const auto scenario = fsdp(file);
    ASSERT_TRUE(scenario.has_value()) << problems(scenario);
    EXPECT_TRUE(scenario->job.parallel.sharding.parameters);
    EXPECT_TRUE(scenario->job.parallel.sharding.reshard_after_forward);
    EXPECT_EQ(scenario->job.parallel.sharding.by_parameter, *version == '2');
    EXPECT_EQ(scenario->job.training.cross_entropy, workload::CrossEntropy::kEager);
    const auto own = fsdp(file, "fsdp: {reshard_after_forward: false}");
    ASSERT_TRUE(own.has_value()) << problems(own);
    EXPECT_FALSE(own->job.parallel.sharding.reshard_after_forward);
  }
}

// accelerate's guide fsdp1_vs_fsdp2.
TEST_F(Accelerate, TheSecondFsdpDoesNotReadStrategyAndPrefetch) {
  const auto scenario = fsdp(
      "fsdp_config: {fsdp_version: 2, fsdp_sharding_strategy: NO_SHARD, "
      "fsdp_backward_prefetch: NO_PREFETCH}\n");
  ASSERT_TRUE(scenario.has_value()) << problems(scenario);
  EXPECT_TRUE(scenario->job.parallel.sharding.parameters);
  EXPECT_EQ(scenario->job.parallel.sharding.backward_prefetch, workload::BackwardPrefetch::kPre);
  EXPECT_THAT(problems(scenario), HasSubstr("accelerate does not read fsdp_config.fsdp_sharding_strategy"));
}

TEST_F(Accelerate, AnAccelerateFileOfAnotherJobIsNoticed) {
  for (const auto& [file, message] :
       {std::pair{"num_processes: 16\n", "num_processes is 16, but the cluster has 8 GPUs"},
        {"mixed_precision: bf61\n", "'mixed_precision' is 'bf61'; did you mean 'bf16'?"},
        {"debug: false\n", "no mixed_precision is given"},
        {"distributed_type: DEEPSPEED\n", "named:1:19: error[E141]: distributed_type is DEEPSPEED"},
        {"fsdp_config: {fsdp_version: 3}\n", "'fsdp_config.fsdp_version' is 3"},
        {"fsdp_config: {fsdp_sharding_stratgy: 2}\n", "did you mean 'fsdp_sharding_strategy'?"},
        {"fsdp_config: {fsdp_auto_wrap_policy: NO_WRAP}\n", "the whole model as one unit, is not modelled"}}) {
    EXPECT_THAT(problems(fsdp(file)), HasSubstr(message));
  }
}

}  // namespace
}  // namespace ringwright::configs::accelerate_test
