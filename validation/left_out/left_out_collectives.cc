#include "validation/left_out/left_out_collectives.h"

#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "traces/input/log_text.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 5> kLeftOutColumns = {"transport", "band", "machines", "error", "bias"};

Result<std::vector<LeftOutError>> errors_of(const CsvTable& table) {
  const auto at = columns_of(table, kLeftOutColumns, "E364");
  if (!at) return tl::unexpected(at.error());
  Diagnostics problems;
  std::vector<LeftOutError> errors;
  for (const CsvRow& row : table.rows) {
    const auto machines = traces::parse_number<int>(row.cells[(*at)[2]].text);
    const auto error = traces::parse_number<double>(row.cells[(*at)[3]].text);
    const auto bias = traces::parse_number<double>(row.cells[(*at)[4]].text);
    if (!machines || !error || !bias) {
      problems.add({.code = "E364",
                    .place = {.file = table.file, .line = row.line, .column = 1},
                    .message = fmt::format("'{}' states no number of machines, error and bias", row.raw)});
      continue;
    }
    errors.push_back({.transport = row.cells[(*at)[0]].text,
                      .band = row.cells[(*at)[1]].text,
                      .machines = *machines,
                      .error = *error,
                      .bias = *bias});
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return errors;
}

}  // namespace

Result<std::vector<LeftOutError>> read_left_out() {
  const auto table = read_csv(shipped_folder("left_out_errors.csv"));
  if (!table) return tl::unexpected(table.error());
  return errors_of(*table);
}

Result<std::vector<LeftOutError>> parse_left_out(const std::string& name, std::string_view text) {
  const auto table = parse_csv(name, text);
  if (!table) return tl::unexpected(table.error());
  return errors_of(*table);
}

std::string left_out_text(const std::vector<LeftOutError>& errors, std::string_view transport) {
  std::vector<std::string> parts;
  for (const LeftOutError& entry : errors) {
    if (entry.transport != transport) continue;
    parts.push_back(fmt::format("{} {:.0f} % ({:+.0f}) on {} machine{}", entry.band, 100.0 * entry.error,
                                100.0 * entry.bias, entry.machines, entry.machines == 1 ? "" : "s"));
  }
  return join(parts, ", ");
}

}  // namespace ringwright::validation
