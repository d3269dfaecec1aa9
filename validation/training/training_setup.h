// A row's words on precision and recomputation, as keys of a scenario's `training`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validation/tables/yaml_text.h"
#include "validation/training/training_row.h"

namespace ringwright::validation {

// Unknown words are listed as assumed: the stack's precision holds then.
void write_precision(const TrainingRow& row, YamlText& yaml, std::vector<std::string>& assumed);
// The layers of a row are spread over this many chunks.
void write_recompute(const TrainingRow& row, std::int64_t parts, YamlText& yaml);

}  // namespace ringwright::validation
