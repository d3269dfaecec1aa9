#include "validation/training/unknown_cells.h"

#include "validation/training/cell_words.h"

namespace ringwright::validation {

std::vector<UnknownCell> unknown_cells(const TrainingRow& row, const Vocabulary& vocabulary) {
  std::vector<UnknownCell> result;
  const auto check = [&](std::string_view column, const std::string& text, bool known) {
    if (!text.empty() && !known) result.push_back({.column = column, .text = text});
  };
  check("precision", row.precision, find_rule(vocabulary.precision, row.precision) != nullptr);
  check("recompute", row.recompute, read_recomputation(vocabulary, row.recompute).known);
  check("dp_sharding", row.sharding, read_sharding(vocabulary, row.sharding).known);
  check("overlap", row.overlap, read_overlap(vocabulary, row.overlap).known);
  check("schedule", row.schedule, find_rule(vocabulary.schedules, row.schedule) != nullptr);
  check("split", row.split, !row.scored() || row.split == "open" || row.split == "calibrate");
  return result;
}

}  // namespace ringwright::validation
