// A DeepSpeed configuration (ds_config.json): its batch, precision and zero_optimization as values of a scenario.
//
// Keys and defaults: github.com/deepspeedai/DeepSpeed, runtime/config.py, runtime/zero/config.py and offload_config.py.
// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x data-parallel ranks; any two give
// the third, and "auto" takes the scenario's value.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/imports/imports.h"

namespace ringwright::configs {
namespace {

constexpr std::array kDeepSpeedNotModelled = {"scheduler",
                                              "gradient_clipping",
                                              "prescale_gradients",
                                              "gradient_predivide_factor",
                                              "sparse_gradients",
                                              "steps_per_print",
                                              "wall_clock_breakdown",
                                              "dump_state",
                                              "flops_profiler",
                                              "tensorboard",
                                              "wandb",
                                              "csv_monitor",
                                              "comet",
                                              "comms_logger",
                                              "monitor_config",
                                              "aio",
                                              "amp",
                                              "autotuning",
                                              "checkpoint",
                                              "compression_training",
                                              "curriculum_learning",
                                              "data_efficiency",
                                              "disable_allgather",
                                              "elasticity",
                                              "eigenvalue",
                                              "hybrid_engine",
                                              "memory_breakdown",
                                              "nebula",
                                              "progressive_layer_drop",
                                              "quantize_training",
                                              "sparse_attention",
                                              "timers",
                                              "torch_autocast",
                                              "zero_allow_untested_optimizer",
                                              "zero_force_ds_cpu_optimizer",
                                              "dataloader_drop_last",
                                              "seq_parallel_communication_data_type",
                                              "compile",
                                              "use_data_before_expert_parallelism",
                                              "graph_harvesting"};

constexpr std::array kZeroKeys = {"stage", "overlap_comm", "reduce_bucket_size", "allgather_bucket_size",
                                  "stage3_prefetch_bucket_size", "stage3_param_persistence_threshold",
                                  "stage3_max_live_parameters", "stage3_max_reuse_distance", "sub_group_size",
                                  "zero_hpz_partition_size", "zero_quantized_weights", "zero_quantized_gradients",
                                  "mics_shard_size", "mics_hierarchical_params_gather", "reduce_scatter",
                                  "use_multi_rank_bucket_allreduce"};

constexpr std::array kZeroNotModelled = {"contiguous_gradients",
                                         "allgather_partitions",
                                         "load_from_fp32_weights",
                                         "elastic_checkpoint",
                                         "stage3_gather_16bit_weights_on_model_save",
                                         "stage3_model_persistence_threshold",
                                         "stage3_use_all_reduce_for_fetch_params",
                                         "stage3_module_granularity_threshold",
                                         "ignore_unused_parameters",
                                         "legacy_stage1",
                                         "round_robin_gradients",
                                         "zero_quantized_nontrainable_weights",
                                         "zeropp_loco_param",
                                         "memory_efficient_linear",
                                         "pipeline_loading_checkpoint",
                                         "override_module_apply",
                                         "log_trace_cache_warnings",
                                         "leaf_module",
                                         "stage3_allgather_sequential"};

constexpr std::array kOffloadKeys = {"device", "pin_memory", "nvme_path", "buffer_count", "buffer_size"};

std::optional<std::int64_t> number(ConfigMap& file, std::string_view name) {
  if (!file.has(name)) return std::nullopt;
  return file.integer_or({.name = name, .doc = "of the batch", .min = 1}, "auto");
}

void wrong_batch(ConfigMap& file, std::string_view key, const std::string& says) {
  file.error(key, "E136", says, "train_batch_size = micro batch x accumulation steps x data-parallel ranks");
}

void read_batch(ConfigMap& file, const BatchWorld& world, Imports& imports) {
  imports.know("train_batch_size", "training.global_batch");
  imports.know("train_micro_batch_size_per_gpu", "training.micro_batch");
  imports.know("gradient_accumulation_steps", "training.global_batch");
  auto batch = number(file, "train_batch_size");
  auto micro = number(file, "train_micro_batch_size_per_gpu");
  const auto steps = number(file, "gradient_accumulation_steps");
  const bool stated = micro.has_value();
  std::string_view source = batch ? "train_batch_size" : "train_micro_batch_size_per_gpu";
  const std::int64_t r = world.replicas;
  if (batch && micro && steps && *batch != *micro * *steps * r) {
    wrong_batch(file, "train_batch_size",
                fmt::format("train_batch_size = {}, but {} x {} steps x {} ranks = {}", *batch, *micro, *steps, r,
                            *micro * *steps * r));
    return;
  }
  // Both give the microbatch, "auto" as well.
  if (batch && !micro && (steps || !file.has("train_micro_batch_size_per_gpu"))) {
    const std::int64_t each = steps.value_or(1) * r;
    if (*batch % each != 0) {
      wrong_batch(file, "train_batch_size",
                  fmt::format("train_batch_size = {} is no multiple of {} steps x {} ranks", *batch,
                              steps.value_or(1), r));
      return;
    }
    micro = *batch / each;
  }
  // Left to the workload ("auto"), the batch is the scenario's.
  if (!batch && micro && (steps || !file.has("train_batch_size"))) batch = *micro * steps.value_or(1) * r;
  // Steps alone, with the scenario's microbatch.
  if (!batch && steps) {
    batch = world.micro_batch * *steps * r;
    source = "gradient_accumulation_steps";
  }
  if (batch) imports.set("training.global_batch", std::to_string(*batch), file.origin(source));
  if (micro) {
    imports.set("training.micro_batch", std::to_string(*micro),
                file.origin(stated ? "train_micro_batch_size_per_gpu" : source));
  }
}

void read_offload_block(ConfigMap& zero, const char* name, Imports& imports) {
  if (!zero.has(name) && !zero.documenting()) return;
  ConfigMap block = zero.map(name, "state that is stored outside the GPU");
  const std::string path = fmt::format("parallel.zero.{}.", name);
  for (const char* key : kOffloadKeys) imports.take(block, key, path + key);
  const bool optimizer = std::string_view(name) == "offload_optimizer";
  if (optimizer) {
    for (const char* key : {"ratio", "pipeline_read", "pipeline_write", "fast_init"})
      imports.take(block, key, path + key);
  } else {
    imports.take(block, "max_in_cpu", path + "max_in_cpu");
  }
  block.ignore_rest("not modelled");
}

struct OldKey {
  const char* name;
  const char* path;
};
constexpr std::array kOldOffload = {OldKey{"cpu_offload", "parallel.zero.offload_optimizer.device"},
                                    OldKey{"cpu_offload_params", "parallel.zero.offload_param.device"}};

void read_deprecated(ConfigMap& zero, Imports& imports) {
  for (const OldKey& old : kOldOffload) {
    if (!zero.has(old.name)) continue;
    const bool on = zero.boolean({.name = old.name, .doc = "deprecated", .fallback = false});
    zero.warn(old.name, "W142", fmt::format("{} is deprecated in DeepSpeed; it is read as {}", old.name, old.path));
    if (on) imports.set(old.path, "cpu", zero.origin(old.name));
  }
  for (const char* name : {"cpu_offload_use_pin_memory", "stage3_gather_fp16_weights_on_model_save"}) {
    if (!zero.has(name)) continue;
    zero.warn(name, "W142", fmt::format("{} is deprecated in DeepSpeed", name));
    zero.ignore(name, "it changes nothing that is modelled");
  }
}

// Behaviour of stages 1 and 2 by default (runtime/zero/config.py and stage_1_and_2.py).
void set_defaults_of_partitions(const ConfigMap& zero, std::int64_t stage, Imports& imports) {
  if (stage != 1 && stage != 2) return;
  const std::string origin = zero.origin("stage");
  imports.set("parallel.zero.flat_gradients", "true", origin);
  if (!zero.has("use_multi_rank_bucket_allreduce")) {
    imports.set("parallel.zero.use_multi_rank_bucket_allreduce", "true", origin);
  }
  if (!zero.has("reduce_bucket_size") && zero.has("overlap_comm")) {
    imports.set("parallel.zero.reduce_bucket_size", "500000000", origin);
  }
}

// PipelineEngine of runtime/pipe/engine.py accumulates microbatches in whole gradients, and refuses stages from 2 on.
void check_pipeline(ConfigMap& zero, std::int64_t stage, const BatchWorld& world) {
  if (stage < 2 || world.pp == 1) return;
  zero.error("stage", "E140",
             fmt::format("zero_optimization.stage is {}, but DeepSpeed's pipeline engine supports only stages 0 and 1, "
                         "and parallel.pp is {}",
                         stage, world.pp),
             "set stage: 1 here, or parallel.pp: 1 in the scenario");
}

// DeepSpeed reads the rest of the block in its own optimizers of stages 1 to 3 alone.
void pass_over_zero_keys(ConfigMap& zero, std::int64_t stage, Imports& imports) {
  for (const char* name : {"offload_optimizer", "offload_param"}) {
    if (!zero.has(name)) continue;
    ConfigMap block = zero.map(name, "state that is stored outside the GPU");
    const std::string device = block.text({.name = "device", .doc = "where", .fallback = std::string("none")});
    if (device != "none") {
      zero.error(name, "E140", fmt::format("zero_optimization.{} needs stage 1, 2 or 3, and stage is {}", name, stage),
                 "set zero_optimization.stage");
    }
    block.ignore_rest("nothing is offloaded");
  }
  const std::string why = stage == 0 ? "zero_optimization.stage is 0" : "BF16_Optimizer does not read it";
  for (const char* key : kZeroKeys) {
    if (std::string_view(key) != "stage") zero.ignore(key, why);
  }
  for (const char* key : kZeroNotModelled) zero.ignore(key, why);
  for (const OldKey& old : kOldOffload) zero.ignore(old.name, why);
  if (stage == 0 && !zero.has("stage")) return;
  if (!uses_bf16_optimizer(imports)) imports.take(zero, "stage", "parallel.zero.stage");
}

void read_zero_block(ConfigMap& file, const BatchWorld& world, Imports& imports) {
  imports.know("zero_optimization", "parallel.zero");
  if (!is_given(file, "zero_optimization")) return;
  const std::int64_t stage = deepspeed_stage(file, world);
  ConfigMap zero = file.map("zero_optimization", "sharding");
  check_pipeline(zero, stage, world);
  if ((stage == 0 || uses_bf16_optimizer(imports)) && !file.documenting()) {
    return pass_over_zero_keys(zero, stage, imports);
  }
  set_defaults_of_partitions(zero, stage, imports);
  for (const char* key : kZeroKeys) imports.take(zero, key, fmt::format("parallel.zero.{}", key));
  read_offload_block(zero, "offload_optimizer", imports);
  read_offload_block(zero, "offload_param", imports);
  read_deprecated(zero, imports);
  for (const char* key : kZeroNotModelled) zero.ignore(key, "not modelled");
}

// DeepSpeed's pipeline engine: `type:transformer` and the like distribute layers as stage_layers `filled` does.
void read_pipeline(ConfigMap& file, Imports& imports) {
  if (!is_given(file, "pipeline")) return;
  ConfigMap block = file.map("pipeline", "of the pipeline engine");
  imports.take(block, "pipe_partitioned", "parallel.scatter_gather_p2p");
  imports.take(block, "grad_partitioned", "parallel.scatter_gather_p2p_gradients");
  if (block.has("partition") && block.text({.name = "partition", .doc = "of layers"}).starts_with("type:")) {
    imports.set("parallel.stage_layers", "filled", block.origin("partition"));
  }
  block.ignore_rest("not modelled");
}

// How layers are checkpointed; whether they are is set in the model's code, here in training.recompute.
void read_checkpointing(ConfigMap& file, Imports& imports) {
  imports.know("activation_checkpointing", "training.recompute");
  if (!is_given(file, "activation_checkpointing")) return;
  ConfigMap block = file.map("activation_checkpointing", "how layers are recomputed");
  imports.take(block, "partition_activations", "training.distribute_saved_activations");
  imports.take(block, "cpu_checkpointing", "training.cpu_checkpointing");
  for (const char* key :
       {"contiguous_memory_optimization", "number_checkpoints", "synchronize_checkpoint_boundary", "profile"}) {
    block.ignore(key, "it changes neither time nor memory as they are modelled");
  }
}

struct OptimizerName {
  std::string_view type;  // DeepSpeed's, which does not distinguish capitals
  std::string_view ours;
};
constexpr std::array kOptimizers = {OptimizerName{"adam", "adam"},      OptimizerName{"fusedadam", "adam"},
                                    OptimizerName{"adamw", "adamw"},    OptimizerName{"lamb", "lamb"},
                                    OptimizerName{"fusedlamb", "lamb"}, OptimizerName{"sgd", "sgd"}};

std::string small_letters(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

void read_optimizer(ConfigMap& file, Imports& imports) {
  if (!is_given(file, "optimizer")) return;
  ConfigMap block = file.map("optimizer", "the optimizer");
  const std::string type = block.text({.name = "type", .doc = "its name", .fallback = std::string("Adam")});
  const auto* const known = std::ranges::find(kOptimizers, small_letters(type), &OptimizerName::type);
  if (known == kOptimizers.end()) {
    block.ignore("type", fmt::format("'{}' is not modelled: Adam is used", type));
  } else {
    imports.set("training.optimizer", std::string(known->ours), block.origin("type"));
  }
  if (block.has("params")) {
    ConfigMap parameters = block.map("params", "of the optimizer");
    if (known != kOptimizers.end() && known->ours == "sgd")
      imports.take(parameters, "momentum", "training.sgd_momentum");
    parameters.ignore_rest("neither time nor memory depends on it");
  }
  block.ignore_rest("not modelled");
}

// The engine's own tensor parallelism.
void check_tensor_ranks(ConfigMap& file, const BatchWorld& world) {
  if (!is_given(file, "tensor_parallel")) return;
  ConfigMap block = file.map("tensor_parallel", "how linear layers are split");
  const std::int64_t size = block.integer({.name = "autotp_size", .doc = "ranks", .fallback = 1, .min = 0});
  if (std::max<std::int64_t>(1, size) != world.tp) {
    block.warn(
        "autotp_size", "W134",
        fmt::format("tensor_parallel.autotp_size is {}, but parallel.tp is {}, which is simulated", size, world.tp),
        fmt::format("set parallel.tp: {} in the scenario", size));
  }
  block.ignore_rest("parallel.tp sets it");
}

}  // namespace

void read_deepspeed(ConfigMap file, const BatchWorld& world, Imports& imports) {
  read_batch(file, world, imports);
  read_deepspeed_precision(file, world, imports);
  read_zero_block(file, world, imports);
  read_checkpointing(file, imports);
  read_pipeline(file, imports);
  read_optimizer(file, imports);
  check_tensor_ranks(file, world);
  for (const char* key : kDeepSpeedNotModelled) file.ignore(key, "not modelled");
}

}  // namespace ringwright::configs
