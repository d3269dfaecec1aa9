// Reading a Hugging Face config.json as a model shape: the families named in transformers llama, mistral, phi3, qwen2,
// qwen3, gpt2, bert, mixtral, qwen2_moe, qwen3_moe, deepseek_v2, deepseek_v3 gpt_oss and others.
#pragma once

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

// `config` is the JSON file as a map (loaded by the caller); `model` is the scenario's own map, which adds what
// config.json does not contain: seq_length, name, dropout. Every value that had to be guessed is recorded as assumed.
// Mistakes are recorded in the maps; the result is then harmless.
[[nodiscard]] workload::ModelShape read_hf_model(ConfigMap& config, ConfigMap& model);

}  // namespace ringwright::configs
