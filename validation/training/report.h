// Measured training runs against predicted ones as text, JSON and a page of Markdown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validation/training/cases.h"
#include "validation/training/score.h"

namespace ringwright::validation {

struct TrainingTables {
  std::span<const PlayedRow> rows;
  std::span<const SourceScore> scores;
  std::vector<std::string> unused_columns;  // of the files, that are not in the schema
};

enum class RowDetail { kWorst, kAll };

[[nodiscard]] std::string training_text(const TrainingTables& tables, RowDetail detail);
[[nodiscard]] std::string training_json(const TrainingTables& tables);
[[nodiscard]] std::string training_markdown(const TrainingTables& tables);

}  // namespace ringwright::validation
