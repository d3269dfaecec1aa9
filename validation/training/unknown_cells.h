// Cells of a measured run whose words the vocabulary does not know: the stack's settings hold there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validation/training/row.h"
#include "validation/training/vocabulary.h"

namespace ringwright::validation {

struct UnknownCell {
  std::string_view column;
  std::string text;
};

[[nodiscard]] std::vector<UnknownCell> unknown_cells(const TrainingRow& row, const Vocabulary& vocabulary);

}  // namespace ringwright::validation
