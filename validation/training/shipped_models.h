// Rows that name a shipped model.
#pragma once

#include <span>

#include "validation/training/row.h"

namespace ringwright::validation {

// Finds the preset that each row's model names; case, blanks and dashes do not matter ("GPT-3 175B"). Rows that state
// no structure get the preset's layers, by which stages are divided.
void take_shipped_models(std::span<TrainingRow> rows);

}  // namespace ringwright::validation
