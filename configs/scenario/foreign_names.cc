#include "configs/scenario/foreign_names.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "collectives/nccl/environment.h"
#include "configs/scenario/imports/hydra/bridge_keys.h"
#include "configs/scenario/imports/imports.h"
#include "configs/scenario/imports/megatron/megatron_flags.h"
#include "configs/scenario/scenario.h"
#include "core/config/key_doc.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kUnknownKey = "E102";

// "parallel.tensor_model_parallel_size" of "unknown key 'parallel.tensor_model_parallel_size'; did you ...".
std::string_view unknown_path(const Diagnostic& diagnostic) {
  const std::string_view message = diagnostic.message;
  const std::size_t open = message.find('\'');
  if (diagnostic.code != kUnknownKey || open == std::string_view::npos) return {};
  return message.substr(open + 1, message.find('\'', open + 1) - open - 1);
}

std::string_view last_word(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// A key of ours that is not read with the settings there are: 'model.moe_router_topk' of a model without experts.
void name_as_ours(Diagnostic& diagnostic, const std::string& path) {
  const std::string named = fmt::format("'{}'", path);
  const std::string guess = diagnostic.message.substr(diagnostic.message.find(named) + named.size());
  diagnostic.message = fmt::format("{} is a key of other settings than those here{}", named, guess);
  if (diagnostic.hint.empty()) diagnostic.hint = fmt::format("`ringwright explain {}` describes it", path);
}

std::string megatron_hint(std::string_view word) {
  std::string flag(word);
  flag.erase(0, std::min(flag.find_first_not_of('-'), flag.size()));
  std::ranges::replace(flag, '_', '-');
  const FlagEntry* const entry = find_megatron_flag(flag);
  if (entry == nullptr || entry->name != flag) return {};
  const std::string theirs = fmt::format("'{}' is Megatron-LM's name", word);
  switch (entry->meaning) {
    case FlagMeaning::kNumber:
    case FlagMeaning::kText:
    case FlagMeaning::kOn:
    case FlagMeaning::kOff:
    case FlagMeaning::kRule:
      if (entry->key.empty()) return theirs + "; `megatron: FILE` reads a run's script as it is";
      return fmt::format("{}; here it is '{}'", theirs, entry->key);
    case FlagMeaning::kNotModelled: return fmt::format("{}; here it is not modelled: {}", theirs, entry->key);
    case FlagMeaning::kNoEffect: break;
  }
  // A single word ("seed", "load") may come from anywhere.
  return flag.find('-') == std::string::npos ? std::string() : theirs + "; nothing that is predicted depends on it";
}

// Fields of Megatron-Core's classes, which Megatron-Bridge and NeMo write into their configurations.
std::string core_hint(std::string_view word) {
  for (const KeySection& section : bridge_sections()) {
    const auto row = std::ranges::find(section.rows, word, &KeyRow::name);
    if (row == section.rows.end() || row->meaning == KeyMeaning::kUnmodelled) continue;
    const FlagEntry* const entry = find_megatron_flag(flag_of(*row));
    if (entry == nullptr || entry->key.find('.') == std::string_view::npos) continue;
    return fmt::format("'{}' is Megatron-Core's name; here it is '{}'", word, entry->key);
  }
  return {};
}

std::string imported_hint(std::string_view word) {
  ConfigDocument nothing = ConfigDocument::for_documentation();
  Imports deepspeed, accelerate;
  read_deepspeed(nothing.root(), {}, deepspeed);
  read_fsdp_config(nothing.root(), {}, accelerate);
  for (const auto& [imports, whose] : {std::pair(&deepspeed, "DeepSpeed"), std::pair(&accelerate, "accelerate")}) {
    const auto found = std::ranges::find(imports->names, word, &ImportedName::theirs);
    if (found == imports->names.end()) continue;
    return fmt::format("'{}' is {}'s name; here it is '{}'", word, whose, found->ours);
  }
  return {};
}

// Names of others, of which no importer has a table; and DeepSpeed's block that is a whole file.
struct OtherName {
  std::string_view theirs;
  std::string_view whose;
  std::string_view ours;
};
constexpr std::string_view kHuggingFace = "Hugging Face";
constexpr std::string_view kTorchTitan = "torchtitan";
constexpr std::string_view kCalculon = "Calculon";
constexpr std::string_view kFrameworks = "other frameworks";
constexpr std::array kOtherNames = {
    OtherName{"num_hidden_layers", kHuggingFace, "model.num_layers"},
    OtherName{"n_layer", kHuggingFace, "model.num_layers"},
    OtherName{"n_embd", kHuggingFace, "model.hidden_size"},
    OtherName{"n_head", kHuggingFace, "model.num_attention_heads"},
    OtherName{"num_key_value_heads", kHuggingFace, "model.num_query_groups"},
    OtherName{"head_dim", kHuggingFace, "model.kv_channels"},
    OtherName{"intermediate_size", kHuggingFace, "model.ffn_hidden_size"},
    OtherName{"per_device_train_batch_size", kHuggingFace, "training.micro_batch"},
    OtherName{"n_layers", kTorchTitan, "model.num_layers"},
    OtherName{"n_heads", kTorchTitan, "model.num_attention_heads"},
    OtherName{"n_kv_heads", kTorchTitan, "model.num_query_groups"},
    OtherName{"seq_len", kTorchTitan, "model.seq_length"},
    OtherName{"local_batch_size", kTorchTitan, "training.micro_batch"},
    OtherName{"tensor_parallel_degree", kTorchTitan, "parallel.tp"},
    OtherName{"pipeline_parallel_degree", kTorchTitan, "parallel.pp"},
    OtherName{"context_parallel_degree", kTorchTitan, "parallel.cp"},
    OtherName{"expert_parallel_degree", kTorchTitan, "parallel.ep"},
    OtherName{"data_parallel_shard_degree", kTorchTitan, "parallel.fsdp.shard_degree"},
    OtherName{"data_parallel_replicate_degree", kTorchTitan, "parallel.fsdp.replicate_degree"},
    OtherName{"tensor_parallel_size", kFrameworks, "parallel.tp"},
    OtherName{"pipeline_parallel_size", kFrameworks, "parallel.pp"},
    OtherName{"expert_parallel_size", kFrameworks, "parallel.ep"},
    OtherName{"zero_stage", kFrameworks, "parallel.zero.stage"},
    OtherName{"num_nodes", kFrameworks, "cluster.nodes"},
    OtherName{"gpus_per_node", kFrameworks, "cluster.node.gpus"},
    OtherName{"torch_dtype", kHuggingFace, "training.precision"},
    OtherName{"num_blocks", kCalculon, "model.num_layers"},
    OtherName{"hidden", kCalculon, "model.hidden_size"},
    OtherName{"feedforward", kCalculon, "model.ffn_hidden_size"},
    OtherName{"attn_heads", kCalculon, "model.num_attention_heads"},
    OtherName{"attn_size", kCalculon, "model.kv_channels"},
    OtherName{"seq_size", kCalculon, "model.seq_length"},
    OtherName{"tensor_par", kCalculon, "parallel.tp"},
    OtherName{"pipeline_par", kCalculon, "parallel.pp"},
    OtherName{"data_par", kCalculon, "parallel.dp"},
    OtherName{"pipeline_interleaving", kCalculon, "parallel.virtual_stages"},
    OtherName{"optimizer_sharding", kCalculon, "parallel.zero.stage"},
    OtherName{"tensor_par_overlap", kCalculon, "parallel.tp_comm_overlap"},
    OtherName{"activation_recompute", kCalculon, "training.recompute"},
    OtherName{"microbatch_size", kCalculon, "training.micro_batch"},
    OtherName{"d_model", kFrameworks, "model.hidden_size"},
    OtherName{"kv_heads", kFrameworks, "model.num_query_groups"},
    OtherName{"num_kv_heads", kFrameworks, "model.num_query_groups"},
    OtherName{"sequence_length", kFrameworks, "model.seq_length"},
    OtherName{"context_length", kFrameworks, "model.seq_length"},
    OtherName{"dropout", kFrameworks, "model.hidden_dropout"},
    OtherName{"batch_size", kFrameworks, "training.global_batch"},
    OtherName{"dtype", kFrameworks, "training.precision"},
    OtherName{"vpp", kFrameworks, "parallel.virtual_stages"},
    OtherName{"tp_size", kFrameworks, "parallel.tp"},
    OtherName{"pp_size", kFrameworks, "parallel.pp"},
    OtherName{"cp_size", kFrameworks, "parallel.cp"},
    OtherName{"ep_size", kFrameworks, "parallel.ep"},
    OtherName{"dp_size", kFrameworks, "parallel.dp"},
    OtherName{"num_gpus", kFrameworks, "cluster.node.gpus"},
};

std::string other_hint(std::string_view word) {
  if (word == "zero_optimization") {
    return "'zero_optimization' is DeepSpeed's name; here it is 'parallel.zero', and `training: {deepspeed: FILE}` "
           "reads a DeepSpeed configuration as it is";
  }
  const auto found = std::ranges::find(kOtherNames, word, &OtherName::theirs);
  if (found == kOtherNames.end()) return {};
  return fmt::format("'{}' is a name of {}; here it is '{}'", word, found->whose, found->ours);
}

std::string nccl_hint(std::string_view word) {
  const std::vector<std::string> known = collectives::nccl_variables();
  if (!std::ranges::binary_search(known, word)) return {};
  return fmt::format("'{0}' is a variable of NCCL; here it is 'comm.env.{0}'", word);
}

struct OtherFormat {
  std::string_view what;
  std::array<std::string_view, 2> keys;  // any of which identifies it
  std::string_view named_as;
  bool has_model = false;  // a section of our name
};
constexpr std::array kOtherFormats = {
    OtherFormat{"a Hugging Face config.json", {"model_type", "architectures"}, "model: {hf: FILE}"},
    OtherFormat{"a DeepSpeed configuration",
                {"zero_optimization", "train_micro_batch_size_per_gpu"},
                "training: {deepspeed: FILE}"},
    OtherFormat{"an accelerate configuration", {"fsdp_config", "distributed_type"}, "parallel: {fsdp_config: FILE}"},
    OtherFormat{"a configuration of Megatron-Bridge", {"train", "comm_overlap"}, "megatron: FILE", true},
    OtherFormat{"a configuration of NeMo", {"trainer", "exp_manager"}, "megatron: FILE", true},
};

}  // namespace

std::string foreign_name_hint(std::string_view word) {
  for (const auto ask : {other_hint, megatron_hint, core_hint, imported_hint, nccl_hint}) {
    if (std::string hint = ask(word); !hint.empty()) return hint;
  }
  return {};
}

Diagnostics with_foreign_names(const Diagnostics& diagnostics) {
  Diagnostics result;
  std::vector<KeyDoc> ours;
  for (Diagnostic diagnostic : diagnostics.all()) {
    const std::string path(unknown_path(diagnostic));
    if (!path.empty() && ours.empty()) ours = scenario_keys();
    if (std::ranges::find(ours, path, &KeyDoc::path) != ours.end()) {
      name_as_ours(diagnostic, path);
      result.add(std::move(diagnostic));
      continue;
    }
    std::string hint = path.empty() ? std::string() : foreign_name_hint(last_word(path));
    if (!hint.empty()) {
      diagnostic.message.resize(std::min(diagnostic.message.find("; did you mean"), diagnostic.message.size()));
      diagnostic.hint = std::move(hint);
    }
    result.add(std::move(diagnostic));
  }
  return result;
}

Diagnostics other_format(const ConfigDocument& document, const std::string& path) {
  for (const std::string_view own : {"cluster", "training", "parallel", "megatron"}) {
    if (document.names(own)) return {};
  }
  for (const OtherFormat& format : kOtherFormats) {
    if (!format.has_model && document.names("model")) continue;
    if (std::ranges::none_of(format.keys, [&](std::string_view key) { return document.names(key); })) continue;
    std::string named(format.named_as);
    named.replace(named.find("FILE"), 4, std::filesystem::path(path).filename().string());
    return failure("E102", fmt::format("this is {}, not a scenario", format.what), {.file = path},
                   fmt::format("name it in a scenario, next to a `cluster`: {}", named));
  }
  return {};
}

}  // namespace ringwright::configs
