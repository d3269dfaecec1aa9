// What other tools call a setting, and its name here: hints for files and keys of other tools.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"

namespace ringwright::configs {

// "'vpp' is a name of other frameworks; here it is 'parallel.virtual_stages'"; empty for a word that is nobody's name.
[[nodiscard]] std::string foreign_name_hint(std::string_view word);

// The same mistakes; for an unknown key that is a name of Megatron-LM, DeepSpeed, accelerate or NCCL, the hint gives
// the name here. A key of ours that only other settings read is called that.
[[nodiscard]] Diagnostics with_foreign_names(const Diagnostics& diagnostics);

// An error where the document is not a scenario but another tool's file that a scenario can name: a Hugging Face
// config.json, a DeepSpeed or an accelerate configuration.
[[nodiscard]] Diagnostics other_format(const ConfigDocument& document, const std::string& path);

}  // namespace ringwright::configs
