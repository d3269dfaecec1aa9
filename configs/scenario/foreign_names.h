// What other tools call a setting, and its name here: hints for files and keys of other tools.
#pragma once

#include <string>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"

namespace ringwright::configs {

// The same mistakes; for an unknown key that is a name of Megatron-LM, DeepSpeed, accelerate or NCCL, the hint gives
// the name here.
[[nodiscard]] Diagnostics with_foreign_names(const Diagnostics& diagnostics);

// An error where the document is not a scenario but another tool's file that a scenario can name: a Hugging Face
// config.json, a DeepSpeed or an accelerate configuration.
[[nodiscard]] Diagnostics other_format(const ConfigDocument& document, const std::string& path);

}  // namespace ringwright::configs
