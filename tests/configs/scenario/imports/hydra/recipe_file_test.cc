#include "configs/scenario/imports/hydra/recipe_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/hydra/imported_run.h"

namespace ringwright::configs::recipe_file_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Keys = std::map<std::string, std::string>;

constexpr const char* kRecipe = R"(_partial_: true
_target_: nemo.collections.llm.api.pretrain
data:
  _target_: nemo.collections.llm.gpt.data.mock.MockDataModule
  global_batch_size: 128
  micro_batch_size: 1
  seq_length: 8192
log: {_target_: nemo.lightning.nemo_logger.NeMoLogger, name: default}
model:
  _target_: nemo.collections.llm.gpt.model.llama.LlamaModel
  config:
    _target_: nemo.collections.llm.gpt.model.llama.Llama3Config8B
    cross_entropy_loss_fusion: true
    cross_entropy_fusion_impl: te
    enable_cuda_graph: false
optim:
  _target_: nemo.lightning.pytorch.optim.megatron.MegatronOptimizerModule
  config:
    _target_: megatron.core.optimizer.optimizer_config.OptimizerConfig
    bf16: true
    lr: 0.0003
    use_distributed_optimizer: true
  lr_scheduler: {warmup_steps: 2000}
trainer:
  _target_: nemo.lightning.pytorch.trainer.Trainer
  accumulate_grad_batches: 1
  callbacks:
  - _target_: nemo.utils.exp_manager.TimingCallback
  - _target_: nemo.lightning.pytorch.callbacks.megatron_comm_overlap.MegatronCommOverlapCallback
    bucket_size: 1000
    tp_comm_overlap: true
  devices: 8
  num_nodes: 4
  plugins:
    _target_: nemo.lightning.pytorch.plugins.mixed_precision.MegatronMixedPrecision
    fp8: hybrid
    fp8_recipe: tensorwise
    grad_reduce_in_fp32: false
    precision: bf16-mixed
  strategy:
    _target_: nemo.lightning.pytorch.strategies.megatron_strategy.MegatronStrategy
    ckpt_async_save: true
    context_parallel_size: 1
    ddp:
      _target_: megatron.core.distributed.distributed_data_parallel_config.DistributedDataParallelConfig
      average_in_collective: true
      grad_reduce_in_fp32: true
      overlap_grad_reduce: false
    pipeline_model_parallel_size: 2
    sequence_parallel: true
    tensor_model_parallel_size: 2
    virtual_pipeline_model_parallel_size: null
)";

TEST(RecipeFile, ObjectsAreTheSectionsOfMegatronBridge) {
  const ImportedRun run(kRecipe);
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_EQ(run.all(), (Keys{{"cluster.node.gpus", "8"},
                             {"cluster.nodes", "4"},
                             {"model.seq_length", "8192"},
                             {"parallel.cp", "1"},
                             {"parallel.pp", "2"},
                             {"parallel.sequence_parallel", "true"},
                             {"parallel.tp", "2"},
                             {"parallel.tp_comm_overlap", "true"},
                             {"parallel.zero.bucket", "2000B"},  // 1000 gradients in bf16
                             {"parallel.zero.overlap_grad_reduce", "true"},
                             {"parallel.zero.overlap_param_gather", "true"},
                             {"parallel.zero.stage", "1"},
                             {"training.cross_entropy", "fused"},
                             {"training.fp8_recipe", "tensorwise"},
                             {"training.global_batch", "128"},
                             {"training.grad_reduce_dtype", "bf16"},
                             {"training.micro_batch", "1"},
                             {"training.precision", "bf16"}}));
  EXPECT_EQ(run.origins.at("parallel.tp"), "run.yaml:51");
}

TEST(RecipeFile, WhatIsNotReadIsReported) {
  const std::string recipe = "trainer:\n  strategy:\n    tensor_paralel_size: 2\n    fsdp: megatron\n";
  EXPECT_THAT(
      ImportedRun(recipe + "data: {global_batch_size: 8}\n").messages(),
      ElementsAre("3:5 W135: trainer.strategy.tensor_paralel_size is unknown and left out",
                  "4:5 W136: trainer.strategy.fsdp is not modelled: set parallel.fsdp or parallel.zero.stage in "
                  "the scenario instead"));
  EXPECT_THAT(ImportedRun("trainer:\n  strategy: {tensor_model_parallel_size: 2}\n"
                          "model_transform: {_target_: nemo.collections.llm.peft.lora.LoRA}\n")
                  .messages(),
              ElementsAre("3:1 W136: model_transform is not modelled: all weights are trained"));
}

}  // namespace
}  // namespace ringwright::configs::recipe_file_test
