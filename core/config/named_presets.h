// `model: llama3-8b` means `model: {preset: llama3-8b}`, wherever a map may name a preset.
#pragma once

#include <span>
#include <string>

#include "core/config/config_document.h"
#include "core/config/config_node.h"

namespace ringwright {

// Replaces words at the paths of `rules` with maps that name the preset. Before documents are merged: a word over a map
// then changes its preset and keeps the other keys. `path` is that of `node`; empty for a whole document.
void name_presets(ConfigNode& node, std::span<const PresetRule> rules, const std::string& path);

}  // namespace ringwright
