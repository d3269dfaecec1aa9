// Reading of config.json for the families whose layers have experts.
#pragma once

#include <string_view>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"

namespace ringwright::configs {

// Experts by the names of Qwen, with a gated shared one; `some_dense`: layers may lack them.
void read_hf_qwen_experts(ConfigMap& config, bool some_dense, workload::ModelShape& shape);
// The families whose layers have experts: mixtral, qwen2_moe, qwen3_moe, deepseek_v2, deepseek_v3, gpt_oss.
[[nodiscard]] bool is_hf_expert_family(std::string_view type);
// Latent attention by the names of DeepSeek, with the decoder's sizes.
void read_hf_latent_attention(ConfigMap& config, workload::ModelShape& shape);
// Whether a token's experts exist, and some layers have them.
void check_hf_choice(ConfigMap& config, workload::ModelShape& shape);
void read_hf_expert_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape);

}  // namespace ringwright::configs
