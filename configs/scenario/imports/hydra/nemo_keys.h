// The keys of NeMo's configurations of a GPT (megatron_gpt_config.yaml), and the flags of Megatron-LM for them.
#pragma once

#include <span>

#include "configs/scenario/imports/hydra/key_table.h"

namespace ringwright::configs {

[[nodiscard]] std::span<const KeySection> nemo_sections();

}  // namespace ringwright::configs
