// A DeepSpeed configuration (ds_config.json): its batch, precision and zero_optimization as values of a scenario.
//
// Keys and defaults: github.com/deepspeedai/DeepSpeed, runtime/config.py, runtime/zero/config.py and offload_config.py.
// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x data-parallel ranks; any two give
// the third, and "auto" takes the scenario's value.
#include <algorithm>
#include <array>
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
                                              "data_types",
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
                                              "graph_harvesting",
                                              "tensor_parallel"};

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

// "true", "false" or "auto".
std::string enabled(ConfigMap block) {
  std::string word = block.text({.name = "enabled", .doc = "on or off", .fallback = std::string("false")});
  block.ignore_rest("loss scaling is not modelled");
  return word;
}

// Of the block `zero_optimization`; -1: left to the workload.
std::int64_t stage_of(ConfigMap& file) {
  if (!file.has("zero_optimization")) return 0;
  ConfigMap zero = file.map("zero_optimization", "sharding");
  if (!zero.has("stage")) return 0;
  return zero.integer_or({.name = "stage", .doc = "of ZeRO", .min = 0, .max = 3}, "auto").value_or(-1);
}

// bf16 without ZeRO uses BF16_Optimizer: gradients are summed and reduced in fp32, and its state is sharded as in stage
// 1. All others up to stage 2 leave the sum to PyTorch.
void read_accumulation(ConfigMap& file, const std::string& precision, const std::string& origin, Imports& imports) {
  const std::int64_t stage = stage_of(file);
  if (precision.empty() || stage < 0 || stage > 2) return;
  const bool own = precision == "bf16" && stage == 0;
  imports.set("training.gradient_accumulation", own ? "copied" : "separate", origin);
  if (own) imports.set("parallel.zero.stage", "1", origin);
}

void read_precision(ConfigMap& file, const BatchWorld& world, Imports& imports) {
  std::string precision;
  std::string origin;
  bool left_open = world.has_precision;
  for (const std::string_view key : {"bf16", "bfloat16", "fp16"}) {
    if (!file.has(key)) continue;
    const std::string on = enabled(file.map(key, "precision"));
    left_open = left_open || on == "auto";
    if (on != "true") continue;
    // DeepSpeed itself: "bfloat16 and fp16 modes cannot be simultaneously enabled" (runtime/config.py).
    if (precision == "bf16" && key == "fp16") {
      file.error(key, "E141", "bf16 and fp16 are both enabled", "enable one of them");
    }
    precision = key == "fp16" ? "fp16" : "bf16";
    origin = file.origin(key);
  }
  if (!precision.empty()) {
    imports.set("training.precision", precision, origin);
  } else if (!left_open && !file.documenting()) {
    file.warn("", "W134",
              "neither bf16 nor fp16 is enabled: DeepSpeed then trains in the type of the model's weights, often fp32; "
              "bf16 is assumed",
              "enable one of them, or set training.precision in the scenario");
  }
  read_accumulation(file, precision, origin, imports);
  const bool whole = precision == "bf16" && stage_of(file) == 0;
  imports.know("communication_data_type", "training.grad_reduce_dtype");
  // Gradients are sent in the model's own type unless set otherwise.
  if (file.has("communication_data_type")) {
    const std::string type = file.text({.name = "communication_data_type", .doc = "of gradients"});
    imports.set("training.grad_reduce_dtype", type == "fp32" ? "fp32" : "bf16", file.origin("communication_data_type"));
  } else if (!precision.empty()) {
    imports.set("training.grad_reduce_dtype", whole ? "fp32" : "bf16", origin);
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

bool uses_bf16_optimizer(const Imports& imports) {
  return std::ranges::any_of(
      imports.values, [](const auto& value) { return value.setting == "training.gradient_accumulation=copied"; });
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

void read_zero_block(ConfigMap& file, const BatchWorld& world, Imports& imports) {
  imports.know("zero_optimization", "parallel.zero");
  if (!file.has("zero_optimization") && !file.documenting()) return;
  const std::int64_t stage = stage_of(file);
  ConfigMap zero = file.map("zero_optimization", "sharding");
  check_pipeline(zero, stage, world);
  set_defaults_of_partitions(zero, stage, imports);
  for (const char* key : kZeroKeys) {
    // BF16_Optimizer replaces stage 0.
    const bool replaced = std::string_view(key) == "stage" && uses_bf16_optimizer(imports);
    if (!replaced) imports.take(zero, key, fmt::format("parallel.zero.{}", key));
  }
  read_offload_block(zero, "offload_optimizer", imports);
  read_offload_block(zero, "offload_param", imports);
  read_deprecated(zero, imports);
  for (const char* key : kZeroNotModelled) zero.ignore(key, "not modelled");
}

// DeepSpeed's pipeline engine: `type:transformer` and the like distribute layers as stage_layers `filled` does.
void read_pipeline(ConfigMap& file, Imports& imports) {
  if (!file.has("pipeline") && !file.documenting()) return;
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
  if (!file.has("activation_checkpointing") && !file.documenting()) return;
  ConfigMap block = file.map("activation_checkpointing", "how layers are recomputed");
  imports.take(block, "partition_activations", "training.distribute_saved_activations");
  imports.take(block, "cpu_checkpointing", "training.cpu_checkpointing");
  for (const char* key :
       {"contiguous_memory_optimization", "number_checkpoints", "synchronize_checkpoint_boundary", "profile"}) {
    block.ignore(key, "it changes neither time nor memory as they are modelled");
  }
}

struct OptimizerName {
  std::string_view type;  // DeepSpeed's
  std::string_view ours;
};
constexpr std::array kOptimizers = {OptimizerName{"Adam", "adam"},      OptimizerName{"FusedAdam", "adam"},
                                    OptimizerName{"AdamW", "adamw"},    OptimizerName{"Lamb", "lamb"},
                                    OptimizerName{"FusedLamb", "lamb"}, OptimizerName{"SGD", "sgd"}};

void read_optimizer(ConfigMap& file, Imports& imports) {
  if (!file.has("optimizer")) return;
  ConfigMap block = file.map("optimizer", "the optimizer");
  const std::string type = block.text({.name = "type", .doc = "its name", .fallback = std::string("Adam")});
  const auto* const known = std::ranges::find(kOptimizers, type, &OptimizerName::type);
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

}  // namespace

void read_deepspeed(ConfigMap file, const BatchWorld& world, Imports& imports) {
  read_batch(file, world, imports);
  read_precision(file, world, imports);
  read_zero_block(file, world, imports);
  read_checkpointing(file, imports);
  read_pipeline(file, imports);
  read_optimizer(file, imports);
  for (const char* key : kDeepSpeedNotModelled) file.ignore(key, "not modelled");
}

}  // namespace ringwright::configs
