// Why a source misses its target: its errors where each term of the predicted step weighs most and least, and the
// known causes in words.
#pragma once

#include <string>

#include "validation/training/report.h"

namespace ringwright::validation {

// Sections of Markdown for the sources that miss; empty where none does.
[[nodiscard]] std::string causes_markdown(const TrainingTables& tables);
// A section of findings about the rows of sources; empty where there are none.
[[nodiscard]] std::string remarks_markdown(const TrainingTables& tables);

}  // namespace ringwright::validation
