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
                                         "distributed_type",
                                         "debug",
                                         "downcast_bf16",
                                         "enable_cpu_affinity",
                                         "machine_rank",
                                         "main_training_function",
                                         "main_process_ip",
                                         "main_process_port",
                                         "num_machines",
                                         "num_processes",
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

constexpr std::array kShardingNotModelled = {"fsdp_auto_wrap_policy",
                                             "fsdp_transformer_layer_cls_to_wrap",
                                             "fsdp_min_num_params",
                                             "fsdp_state_dict_type",
                                             "fsdp_use_orig_params",
                                             "fsdp_sync_module_states",
                                             "fsdp_cpu_ram_efficient_loading",
                                             "fsdp_version"};

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
  if (!map.has(name)) return;
  imports.set(path, translate(map.text({.name = name, .doc = "of the named file"})), map.origin(name));
}

void read_sharding(ConfigMap fsdp, Imports& imports) {
  take_word(fsdp, "fsdp_sharding_strategy", "parallel.fsdp.sharding_strategy", strategy_of, imports);
  take_word(fsdp, "fsdp_backward_prefetch", "parallel.fsdp.backward_prefetch", lower, imports);
  take_word(fsdp, "fsdp_backward_prefetch_policy", "parallel.fsdp.backward_prefetch", lower, imports);
  imports.know("fsdp_reshard_after_forward", "parallel.fsdp.reshard_after_forward");
  imports.know("fsdp_activation_checkpointing", "training.recompute");
  // Version 1 has the strategy under this name, version 2 a boolean.
  if (fsdp.has("fsdp_reshard_after_forward")) {
    const std::string word = lower(fsdp.text({.name = "fsdp_reshard_after_forward", .doc = "of the named file"}));
    const bool strategy = word != "true" && word != "false";
    imports.set(strategy ? "parallel.fsdp.sharding_strategy" : "parallel.fsdp.reshard_after_forward",
                strategy ? strategy_of(word) : word, fsdp.origin("fsdp_reshard_after_forward"));
  }
  take_word(fsdp, "fsdp_forward_prefetch", "parallel.fsdp.forward_prefetch", lower, imports);
  take_word(fsdp, "fsdp_offload_params", "parallel.fsdp.cpu_offload", lower, imports);
  take_word(fsdp, "fsdp_limit_all_gathers", "parallel.fsdp.limit_all_gathers", lower, imports);
  if (fsdp.has("fsdp_activation_checkpointing")) {
    const bool again = fsdp.boolean({.name = "fsdp_activation_checkpointing", .doc = "every layer is recomputed"});
    imports.set("training.recompute", again ? "full" : "none", fsdp.origin("fsdp_activation_checkpointing"));
  }
  for (const char* key : kShardingNotModelled) {
    fsdp.ignore(key, "a transformer layer is the unit; how it is wrapped, saved and loaded is not modelled");
  }
}

}  // namespace

void read_fsdp_config(ConfigMap file, Imports& imports) {
  read_sharding(file.map("fsdp_config", "sharding"), imports);
  if (file.has("mixed_precision")) {
    const std::string word = file.text({.name = "mixed_precision", .doc = "of the named file"});
    if (word == "bf16" || word == "fp16") imports.set("training.precision", word, file.origin("mixed_precision"));
    if (word == "no") imports.set("training.precision", "fp32", file.origin("mixed_precision"));
    if (word == "fp8") {
      file.warn("mixed_precision", "W134", "mixed_precision: fp8 is not modelled; bf16 is assumed",
                "set it in training.precision");
    }
  }
  if (file.has("gradient_accumulation_steps")) {
    file.ignore("gradient_accumulation_steps", "training.global_batch and micro_batch determine it");
  }
  for (const char* key : kFsdpNotModelled) file.ignore(key, "not modelled");
}

}  // namespace ringwright::configs
