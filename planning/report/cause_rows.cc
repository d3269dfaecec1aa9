#include "planning/report/cause_rows.h"

#include <algorithm>
#include <utility>

#include "planning/report/breakdown_rows.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr double kPicosecondsPerSecond = 1e12;
constexpr std::string_view kComputingPrefix = "compute: ", kExposedPrefix = "exposed ";

std::string cause_name(const std::string& cause) {
  if (cause.starts_with(kComputingPrefix)) return cause.substr(kComputingPrefix.size());
  if (cause.starts_with(kExposedPrefix)) return BreakdownRow{.dimension = cause.substr(kExposedPrefix.size())}.name();
  return cause;
}

std::vector<std::string> causes_of(std::span<const NamedCauses> entries) {
  std::vector<std::string> causes;
  for (const NamedCauses& entry : entries) {
    for (const CauseRow& row : entry.rows) {
      if (std::ranges::find(causes, row.cause) == causes.end()) causes.push_back(row.cause);
    }
  }
  return causes;
}

}  // namespace

std::vector<CauseRow> cause_rows(const JsonValue& list) {
  std::vector<CauseRow> rows;
  for (const JsonValue& entry : list.list()) {
    rows.push_back({.cause = cause_name(entry["cause"].text()),
                    .seconds = entry["ps"].number().value_or(0.0) / kPicosecondsPerSecond});
  }
  return rows;
}

Panel stacked_causes(std::span<const NamedCauses> entries, std::string first_column) {
  double longest = 0.0;
  for (const NamedCauses& entry : entries) {
    double sum = 0.0;
    for (const CauseRow& row : entry.rows) sum += row.seconds;
    longest = std::max(longest, sum);
  }
  const UnitScale scale = time_scale(longest);
  PanelColumn names = text_column(std::move(first_column));
  for (const NamedCauses& entry : entries) texts(names).push_back(entry.name);
  Panel panel{.chart = Chart::kBars, .columns = {std::move(names)}};
  for (const std::string& cause : causes_of(entries)) {
    PanelColumn column = number_column(cause, std::string(scale.unit));
    for (const NamedCauses& entry : entries) {
      const auto row = std::ranges::find(entry.rows, cause, &CauseRow::cause);
      numbers(column).push_back(row == entry.rows.end() ? 0.0 : row->seconds * scale.factor);
    }
    panel.columns.push_back(std::move(column));
  }
  return panel;
}

}  // namespace ringwright::planning
