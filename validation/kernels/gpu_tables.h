// Shared by validators and calibrators of tables that `validation/gpu` measured on one GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"

namespace ringwright::validation {

// The given files, or those that are shipped for the family of measurements; an error when there are neither.
[[nodiscard]] Result<std::vector<std::string>> tables_of(const std::vector<std::string>& files,
                                                         std::string_view family);
// The one file of a calibration.
[[nodiscard]] Result<std::string> only_table(const std::vector<std::string>& files);
// W162 where --cluster was given: such a table names its GPU.
[[nodiscard]] Diagnostics cluster_has_no_effect(const std::optional<std::string>& cluster, std::string_view family);
// The result of one table.
struct ScoredPart {
  std::string name;  // "ll", "pinned, host to device"
  ErrorStatistics fitted;
  ErrorStatistics unseen;  // of rows that were held out; they decide where there are any
};
struct TableScore {
  std::string gpu;
  std::string text;
  std::string json;  // one object
  NamedText plot;
  std::vector<ScoredPart> parts;
};

struct TableKind {
  std::string_view family;  // as `measure_gpu --families` names it
  std::string_view title;   // of the page
  std::string_view docs;    // page that explains it, in the same folder
  double threshold = 0.0;   // largest mean error of a section
};
// Each table scored, compared with its threshold, and combined.
[[nodiscard]] Result<ValidationOutcome> validate_tables(
    const ValidationRequest& request, const TableKind& kind,
    const std::function<Result<TableScore>(const std::string& file)>& score);

// "12 rows, mean 2.3 %, largest 8.1 %".
[[nodiscard]] std::string errors_text(const ErrorStatistics& errors);
// "2.3 %".
[[nodiscard]] std::string percent_text(double ratio);

}  // namespace ringwright::validation
