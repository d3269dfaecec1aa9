// The keys of Megatron-Bridge's ConfigContainer, and the flags of Megatron-LM that they stand for.
#pragma once

#include <span>
#include <string_view>

#include "configs/scenario/imports/hydra/key_table.h"

namespace ringwright::configs {

[[nodiscard]] std::span<const KeySection> bridge_sections();

// Of the model, the optimizer, data parallelism and process groups: without an effect on a step.
[[nodiscard]] std::span<const std::string_view> idle_model_keys();
[[nodiscard]] std::span<const std::string_view> idle_optimizer_keys();
[[nodiscard]] std::span<const std::string_view> idle_ddp_keys();
[[nodiscard]] std::span<const std::string_view> idle_train_keys();

}  // namespace ringwright::configs
