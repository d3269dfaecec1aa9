// Files that a scenario names and that set some of its values: settings of DeepSpeed, FSDP, Megatron and Transformer
// Engine, translated to ours.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"

namespace ringwright::configs {

// A key of another tool, and the path of a scenario that takes its value.
struct ImportedName {
  std::string theirs;
  std::string ours;
};

struct Imports {
  std::vector<ImportedValue> values;
  Diagnostics diagnostics;          // mistakes and warnings in the named files
  std::vector<IgnoredKey> ignored;  // their keys that are not modelled
  std::vector<ImportedName> names;  // known to the readers; all of them where a document is read for documentation

  // Records that a key of the file corresponds to the path here.
  void know(std::string_view name, std::string_view path);
  // Records a value of another file at a path of the scenario, unless it is left to another source ("auto").
  void take(ConfigMap& map, std::string_view name, std::string_view path);
  void set(std::string path, std::string value, std::string origin);
};

// Whether the key is given, or all are read for documentation. Asked for in any case, so that a misspelt one finds its
// neighbour.
[[nodiscard]] bool is_given(ConfigMap& file, std::string_view key);

// Reads the files that the scenario names in `megatron`, `training.deepspeed`, `parallel.fsdp_config` and
// `parallel.tp_comm_overlap_cfg`. Megatron's flags may name the last one, too: it is looked up next to `scenario_path`.
// `ranks`: GPUs of the cluster.
[[nodiscard]] Imports read_imports(ConfigMap root, const std::string& scenario_path, std::int64_t ranks);

// What the values of another file depend on, as far as the scenario says it.
struct BatchWorld {
  std::int64_t ranks = 1;
  std::int64_t replicas = 1;  // ranks that share a batch: the GPUs divided by tp, cp and pp
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t micro_batch = 1;
  bool has_precision = false;
  bool has_stage = false;     // of ZeRO
  bool has_sharding = false;  // what FSDP shards
};
void read_deepspeed(ConfigMap file, const BatchWorld& world, Imports& imports);
void read_deepspeed_precision(ConfigMap file, const BatchWorld& world, Imports& imports);
// Of ZeRO; -1: left to the scenario.
[[nodiscard]] std::int64_t deepspeed_stage(ConfigMap& file, const BatchWorld& world);
// Once the precision is read: BF16_Optimizer instead of an optimizer of a stage of ZeRO.
[[nodiscard]] bool uses_bf16_optimizer(const Imports& imports);
void read_fsdp_config(ConfigMap file, const BatchWorld& world, Imports& imports);
void read_tensor_overlap(ConfigMap file, Imports& imports);
void read_megatron(const InputFile& file, Imports& imports);

}  // namespace ringwright::configs
