// What other tools call a thing, and what it is called here: hints for files and keys that are theirs.
#pragma once

#include <string>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"

namespace ringwright::configs {

// The same mistakes; of an unknown key that Megatron-LM, DeepSpeed, accelerate or NCCL knows, the hint says the name
// here.
[[nodiscard]] Diagnostics with_foreign_names(const Diagnostics& diagnostics);

// An error where the document is no scenario but another tool's file that a scenario can name: a Hugging Face
// config.json, a DeepSpeed or an accelerate configuration.
[[nodiscard]] Diagnostics other_format(const ConfigDocument& document, const std::string& path);

}  // namespace ringwright::configs
