// JSON Schema (draft-07) of a configuration, for completion and checking in editors.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config/config_document.h"
#include "core/config/key_doc.h"

namespace ringwright {

// One sentence: what `preset` may be where the rule holds.
[[nodiscard]] std::string preset_help(const PresetRule& rule);

// What the key `extends` of every file does; the loader takes it, so that no reader documents it.
constexpr std::string_view kExtendsHelp =
    "the file to build on, relative to this file, or the name of a shipped scenario; the keys of this file override "
    "its values, lists whole, maps key by key";

// `title` names the kind of file. Required keys are stated in descriptions only: any of them may come from `extends` or
// a preset, which an editor does not read.
[[nodiscard]] std::string json_schema(std::span<const KeyDoc> docs, std::span<const PresetRule> presets,
                                      std::string_view title);

}  // namespace ringwright
