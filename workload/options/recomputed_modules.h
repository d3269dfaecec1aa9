// The names of what training.recompute_modules may list.
#pragma once

#include <array>
#include <string_view>

#include "workload/options/training_options.h"

namespace ringwright::workload {

// In Megatron-LM's terms.
struct NamedModule {
  std::string_view name;
  bool RecomputedModules::*module;
};
inline constexpr std::array kNamedModules{NamedModule{"core_attn", &RecomputedModules::core_attention},
                              NamedModule{"layernorm", &RecomputedModules::norms},
                              NamedModule{"mla_up_proj", &RecomputedModules::latent_projection},
                              NamedModule{"mlp", &RecomputedModules::mlp},
                              NamedModule{"moe", &RecomputedModules::experts},
                              NamedModule{"moe_act", &RecomputedModules::expert_activation},
                              NamedModule{"shared_experts", &RecomputedModules::shared_experts},
                              NamedModule{"gdn_norm_out", &RecomputedModules::gated_norm}};

}  // namespace ringwright::workload
