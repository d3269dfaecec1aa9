// A row's recomputation as keys of a scenario's `training`.
#pragma once

#include <cstdint>

#include "validation/tables/yaml_text.h"
#include "validation/training/cell_words.h"
#include "validation/training/row.h"

namespace ringwright::validation {

// The layers of a row are spread over this many chunks.
void write_recompute(const TrainingRow& row, const Recomputation& recomputation, std::int64_t parts, YamlText& yaml);

}  // namespace ringwright::validation
