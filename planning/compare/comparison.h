// Two or more steps compared: where the time of each differs from the first one, and which values cause it.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/study/difference.h"
#include "planning/study/point.h"

namespace ringwright::planning {

struct ResolvedValue {
  std::string key;
  std::string value;
};

// One side: a scenario that was simulated now, the result of an earlier run, or what a scenario's publication measured.
struct ComparedStep {
  std::string name;
  std::string source;  // as the user named it
  StepFigures figures;
  std::vector<ResolvedValue> values;  // defaults included, sorted by key
};

// `path`: a scenario; a result.json, or the folder of one. Fails for a result without exact parts (E320).
[[nodiscard]] Result<ComparedStep> load_compared(const std::string& path,
                                                 const std::vector<std::string>& settings = {});
// The published step of a scenario: its time, or the one that follows from another published figure, which is inverse
// to it. What takes that time is not known: it is one part, "as published". Fails without a figure (E320).
[[nodiscard]] Result<ComparedStep> load_published(const std::string& path);
// The text of a result.json.
[[nodiscard]] Result<ComparedStep> read_result(const std::string& name, std::string_view text);
// Whether a path names an earlier result, and which file it is; empty: a scenario.
[[nodiscard]] std::string result_file(const std::string& path);

// A key whose value differs; empty where a side has none.
struct DifferentValue {
  std::string key;
  std::string before;
  std::string after;
};

struct StepDifference {
  std::size_t other = 0;  // index of the side
  std::vector<PartChange> changes;
  std::vector<DifferentValue> values;
};

struct SideBySide {
  std::vector<ComparedStep> sides;          // the first one is what the others are compared with
  std::vector<StepDifference> comparisons;  // of each other one
};

[[nodiscard]] SideBySide compare(std::vector<ComparedStep> sides);

[[nodiscard]] std::string render_comparison_text(const SideBySide& both, std::size_t width = 100);
// Schema "ringwright.compare/1" (docs/compare.md).
[[nodiscard]] std::string render_comparison_json(const SideBySide& both);

}  // namespace ringwright::planning
