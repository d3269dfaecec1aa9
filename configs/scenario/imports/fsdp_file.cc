// An FSDP configuration of Hugging Face accelerate (YAML): fsdp_config and mixed_precision as values of a scenario.
//
// Keys: github.com/huggingface/accelerate, utils/dataclasses.py (FullyShardedDataParallelPlugin, versions 1 and 2).
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "configs/scenario/imports/imports.h"

namespace ringwright::configs {
namespace {

constexpr std::array kFsdpNotModelled = {"compute_environment",
                                         "debug",
                                         "downcast_bf16",
                                         "enable_cpu_affinity",
                                         "machine_rank",
                                         "main_training_function",
                                         "main_process_ip",
                                         "main_process_port",
                                         "num_machines",
                                         "rdzv_backend",
                                         "same_network",
                                         "tpu_env",
                                         "tpu_use_cluster",
                                         "tpu_use_sudo",
                                         "use_cpu",
                                         "dynamo_config",
                                         "gpu_ids",
                                         "command_file",
                                         "commands",
                                         "tpu_name",
                                         "tpu_zone",
                                         "megatron_lm_config",
                                         "deepspeed_config",
                                         "mpirun_config"};

constexpr std::array kShardingNotModelled = {"fsdp_auto_wrap_policy",         "fsdp_transformer_layer_cls_to_wrap",
                                             "fsdp_min_num_params",           "fsdp_state_dict_type",
                                             "fsdp_use_orig_params",          "fsdp_sync_module_states",
                                             "fsdp_cpu_ram_efficient_loading"};

// FULL_SHARD, or its number in the enumeration.
std::string strategy_of(std::string word) {
  constexpr std::array kByNumber = {"full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "_hybrid_shard_zero2"};
  if (word.size() == 1 && word[0] >= '1' && word[0] <= '5') return kByNumber[static_cast<std::size_t>(word[0] - '1')];
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "hybrid_shard_zero2" ? "_hybrid_shard_zero2" : word;
}

std::string lower(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "no_prefetch" ? "none" : word;
}

void take_word(ConfigMap& map, const char* name, const char* path, std::string (*translate)(std::string),
               Imports& imports) {
  imports.know(name, path);
  if (!is_given(map, name)) return;
  imports.set(path, translate(map.text({.name = name, .doc = "of the named file"})), map.origin(name));
}

// Version 1 has the strategy under this name, version 2 a boolean.
void read_reshard(ConfigMap& fsdp, Imports& imports) {
  imports.know("fsdp_reshard_after_forward", "parallel.fsdp.reshard_after_forward");
  if (!is_given(fsdp, "fsdp_reshard_after_forward")) return;
  const std::string word = lower(fsdp.text({.name = "fsdp_reshard_after_forward", .doc = "of the named file"}));
  const bool strategy = word != "true" && word != "false";
  imports.set(strategy ? "parallel.fsdp.sharding_strategy" : "parallel.fsdp.reshard_after_forward",
              strategy ? strategy_of(word) : word, fsdp.origin("fsdp_reshard_after_forward"));
}

void read_first_version(ConfigMap& fsdp, const std::string& whole, Imports& imports) {
  take_word(fsdp, "fsdp_sharding_strategy", "parallel.fsdp.sharding_strategy", strategy_of, imports);
  take_word(fsdp, "fsdp_backward_prefetch", "parallel.fsdp.backward_prefetch", lower, imports);
  take_word(fsdp, "fsdp_backward_prefetch_policy", "parallel.fsdp.backward_prefetch", lower, imports);
  take_word(fsdp, "fsdp_forward_prefetch", "parallel.fsdp.forward_prefetch", lower, imports);
  read_reshard(fsdp, imports);
  const bool stated = fsdp.has("fsdp_sharding_strategy") || fsdp.has("fsdp_reshard_after_forward");
  if (!stated && !whole.empty()) imports.set("parallel.fsdp.sharding_strategy", "full_shard", whole);
}

// accelerate, docs/source/concept_guides/fsdp1_vs_fsdp2.md: what the second version no longer reads.
void read_second_version(ConfigMap& fsdp, const std::string& whole, Imports& imports) {
  for (const char* key :
       {"fsdp_sharding_strategy", "fsdp_backward_prefetch", "fsdp_backward_prefetch_policy", "fsdp_forward_prefetch"}) {
    if (fsdp.has(key)) {
      fsdp.warn(key, "W134", fmt::format("accelerate does not read {} with fsdp_version: 2", fsdp.path_of(key)),
                "fsdp_reshard_after_forward says what is sharded");
    }
    fsdp.ignore(key, "accelerate does not read it with fsdp_version: 2");
  }
  read_reshard(fsdp, imports);
  if (fsdp.has("fsdp_reshard_after_forward") || whole.empty()) return;
  imports.set("parallel.fsdp.reshard_after_forward", "true", whole);
}

// `whole`: where the default of what is sharded comes from; empty: the scenario says it.
void read_sharding(ConfigMap fsdp, const std::string& whole, Imports& imports) {
  const std::int64_t version =
      fsdp.integer({.name = "fsdp_version", .doc = "of PyTorch's FSDP", .fallback = 1, .min = 1, .max = 2});
  imports.know("fsdp_version", "parallel.fsdp.version");
  imports.set("parallel.fsdp.version", std::to_string(version), fsdp.origin("fsdp_version"));
  if (version == 1 || fsdp.documenting()) read_first_version(fsdp, whole, imports);
  if (version == 2 || fsdp.documenting()) read_second_version(fsdp, whole, imports);
  imports.know("fsdp_activation_checkpointing", "training.recompute");
  take_word(fsdp, "fsdp_offload_params", "parallel.fsdp.cpu_offload", lower, imports);
  take_word(fsdp, "fsdp_limit_all_gathers", "parallel.fsdp.limit_all_gathers", lower, imports);
  if (is_given(fsdp, "fsdp_activation_checkpointing")) {
    const bool again = fsdp.boolean({.name = "fsdp_activation_checkpointing", .doc = "every layer is recomputed"});
    imports.set("training.recompute", again ? "full" : "none", fsdp.origin("fsdp_activation_checkpointing"));
  }
  if (is_given(fsdp, "fsdp_auto_wrap_policy") &&
      fsdp.text({.name = "fsdp_auto_wrap_policy", .doc = "what a unit is"}) == "NO_WRAP") {
    fsdp.warn("fsdp_auto_wrap_policy", "W134",
              "fsdp_auto_wrap_policy: NO_WRAP, the whole model as one unit, is not modelled: every layer is one");
  }
  for (const char* key : kShardingNotModelled) {
    fsdp.ignore(key, "a transformer layer is the unit; how it is wrapped, saved and loaded is not modelled");
  }
}

constexpr std::array kPrecisions = {Option{"bf16", ""}, Option{"fp16", ""}, Option{"no", "fp32"}, Option{"fp8", ""}};

void read_mixed_precision(ConfigMap& file, const BatchWorld& world, Imports& imports) {
  if (!is_given(file, "mixed_precision")) {
    if (world.has_precision || file.documenting()) return;
    file.warn("", "W134",
              "no mixed_precision is given: accelerate then trains in the type of the model's weights, often fp32; "
              "bf16 is assumed",
              "set mixed_precision, or training.precision in the scenario");
    return;
  }
  const std::string word = file.choice({.name = "mixed_precision", .doc = "of the named file"}, kPrecisions);
  if (word == "fp8") {
    file.warn("mixed_precision", "W134", "mixed_precision: fp8 is not modelled; bf16 is assumed",
              "set it in training.precision");
    return;
  }
  imports.set("training.precision", word == "no" ? "fp32" : word, file.origin("mixed_precision"));
}

// Whether the file configures FSDP, of as many processes as the cluster has GPUs.
void check_job(ConfigMap& file, const BatchWorld& world) {
  if (is_given(file, "distributed_type")) {
    const std::string type = file.text({.name = "distributed_type", .doc = "how the model is trained"});
    if (type != "FSDP" && !file.documenting()) {
      file.error("distributed_type", "E141",
                 fmt::format("distributed_type is {}: accelerate uses FSDP only with distributed_type: FSDP", type),
                 type == "DEEPSPEED" ? "name DeepSpeed's own file in training.deepspeed"
                                     : "leave fsdp_config out of the scenario");
    }
  }
  if (!is_given(file, "num_processes")) return;
  const std::int64_t processes = file.integer({.name = "num_processes", .doc = "ranks of the job", .fallback = 1});
  if (processes == world.ranks || file.documenting()) return;
  file.warn(
      "num_processes", "W134",
      fmt::format("num_processes is {}, but the cluster has {} GPUs, which are simulated", processes, world.ranks));
}

}  // namespace

void read_fsdp_config(ConfigMap file, const BatchWorld& world, Imports& imports) {
  check_job(file, world);
  const std::string whole = world.has_sharding ? std::string() : file.origin("fsdp_config");
  read_sharding(file.map("fsdp_config", "sharding"), whole, imports);
  read_mixed_precision(file, world, imports);
  if (file.has("gradient_accumulation_steps")) {
    file.ignore("gradient_accumulation_steps", "training.global_batch and micro_batch determine it");
  }
  for (const char* key : kFsdpNotModelled) file.ignore(key, "not modelled");
}

}  // namespace ringwright::configs
