// Rules of Megatron-Bridge's training/comm_overlap.py.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/hydra/imported_run.h"

namespace ringwright::configs::bridge_overlap_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using Keys = std::map<std::string, std::string>;

ImportedRun run_of(const std::string& model, const std::string& more) {
  return ImportedRun("model:\n  num_layers: 8\n  hidden_size: 256\n  bf16: true\n" + model + more);
}

constexpr const char* kSharded = "ddp: {use_distributed_optimizer: true, grad_reduce_in_fp32: true}\n";

TEST(BridgeOverlap, TheSectionTurnsOnWhatItDoesNotTurnOff) {
  const ImportedRun run = run_of("", std::string(kSharded) + "comm_overlap: {overlap_param_gather: false}\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_EQ(run.keys.at("parallel.zero.overlap_grad_reduce"), "true");
  EXPECT_FALSE(run.all().contains("parallel.zero.overlap_param_gather"));
  EXPECT_EQ(run.keys.at("parallel.zero.bucket"), "536870912B");  // 128 x 1024 x 1024 parameters of 4 bytes
  EXPECT_EQ(run.origins.at("parallel.zero.overlap_grad_reduce"), "run.yaml:6");
}

// _get_optimizer_overlap_cfgs is used with the distributed optimizer alone.
TEST(BridgeOverlap, WithoutADistributedOptimizerTheKeysOfDdpCount) {
  const ImportedRun run = run_of("", "ddp: {overlap_grad_reduce: false}\ncomm_overlap: {overlap_grad_reduce: true}\n");
  EXPECT_FALSE(run.all().contains("parallel.zero.overlap_grad_reduce"));
  const ImportedRun without = run_of(
      "", "ddp: {overlap_grad_reduce: true, bucket_size: 1000, grad_reduce_in_fp32: false}\ncomm_overlap: null\n");
  EXPECT_THAT(without.messages(), IsEmpty());
  EXPECT_THAT(without.keys,
              IsSupersetOf(Keys{{"parallel.zero.overlap_grad_reduce", "true"}, {"parallel.zero.bucket", "2000B"}}));
}

TEST(BridgeOverlap, TensorParallelExchangesOverlapWithSequenceParallelism) {
  const std::string overlap = "comm_overlap:\n  tp_comm_overlap: true\n";
  const ImportedRun run = run_of(
      "  tensor_model_parallel_size: 4\n  sequence_parallel: true\n  tp_comm_overlap: false\n"
      "  tp_comm_overlap_rs: false\n  tp_comm_overlap_rs_dgrad: true\n",
      overlap);
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.keys, IsSupersetOf(Keys{{"parallel.tp_comm_overlap", "true"},
                                          {"parallel.tp_comm_overlap_rs", "false"},
                                          {"parallel.tp_comm_overlap_rs_dgrad", "true"}}));
  EXPECT_THAT(run_of("  tensor_model_parallel_size: 4\n", overlap).messages(),
              ElementsAre("7:3 W131: comm_overlap.tp_comm_overlap has no effect: model.sequence_parallel is false"));
  EXPECT_THAT(
      run_of("  tensor_model_parallel_size: 1\n  sequence_parallel: true\n", overlap).messages(),
      ElementsAre("8:3 W131: comm_overlap.tp_comm_overlap has no effect: model.tensor_model_parallel_size is 1"));
}

TEST(BridgeOverlap, MessagesOfInterleavedStagesOverlap) {
  const std::string chunks = "  pipeline_model_parallel_size: 2\n  virtual_pipeline_model_parallel_size: 2\n";
  const std::string own = "parallel.overlap_p2p_comm";
  EXPECT_FALSE(run_of(chunks, "comm_overlap: {tp_comm_overlap: false}\n").all().contains(own));  // on by default
  EXPECT_EQ(run_of(chunks, "comm_overlap: {overlap_p2p_comm: false}\n").keys.at(own), "false");
  EXPECT_EQ(run_of(chunks, "").assumed.at(own), "false");  // ModelParallelConfig
  EXPECT_EQ(run_of(chunks + "  overlap_p2p_comm: true\n", "").keys.at(own), "true");
  EXPECT_FALSE(run_of("  pipeline_model_parallel_size: 2\n  overlap_p2p_comm: false\n", "").all().contains(own));
}

TEST(BridgeOverlap, ExpertsAndDelayedGradientsAreTheSectionsOrTheModels) {
  const ImportedRun run = run_of("  overlap_moe_expert_parallel_comm: false\n  delay_wgrad_compute: true\n",
                                 "comm_overlap: {overlap_moe_expert_parallel_comm: true, delay_wgrad_compute: null}\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_THAT(run.keys, IsSupersetOf(Keys{{"parallel.overlap_moe_expert_parallel_comm", "true"},
                                          {"parallel.delay_wgrad_compute", "true"}}));
  EXPECT_THAT(run_of("", "comm_overlap: {defer_embedding_wgrad_compute: true}\n").messages(),
              ElementsAre("5:16 W136: comm_overlap.defer_embedding_wgrad_compute is not modelled: the gradient of the "
                          "logits' weights is not deferred"));
}

}  // namespace
}  // namespace ringwright::configs::bridge_overlap_test
