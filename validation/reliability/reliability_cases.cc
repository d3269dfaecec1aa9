#include "validation/reliability/reliability_cases.h"

#include <algorithm>
#include <array>

#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 2> kCaseHeader{"note", "source"};
constexpr std::array<std::string_view, 8> kCaseColumns{"id",     "operation", "set",  "policy",
                                                       "metric", "measured",  "role", "source"};
constexpr std::array<std::string_view, 5> kNeededCells{"id", "operation", "metric", "measured", "role"};
constexpr std::array<std::string_view, 8> kMetrics{
    "ettr",   "wall_hours", "wall_minutes",        "checkpoint_share",
    "faults", "selections", "expected_mtbf_hours", "running_mtbf_minutes"};
constexpr std::array kCaseRoles{TableWord<CaseRole>{"outcome", CaseRole::kOutcome},
                            TableWord<CaseRole>{"bound", CaseRole::kBound},
                            TableWord<CaseRole>{"implied", CaseRole::kImplied}};

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string text_in(const TableCells& cells, const CsvRow& row, std::string_view column) {
  const CsvCell* const cell = cells.cell(row, column);
  return cell == nullptr ? "" : cell->text;
}

}  // namespace

Result<std::vector<ReliabilityCase>> read_reliability_cases(const std::string& path) {
  const auto csv = read_csv(path);
  if (!csv) return tl::unexpected(csv.error());
  TableCells cells(*csv, {.of = "jobs with failures",
                          .header = kCaseHeader,
                          .columns = kCaseColumns,
                          .needed = kNeededCells,
                          .page = "docs/validation-reliability.md"});
  std::vector<ReliabilityCase> cases;
  for (const CsvRow& row : csv->rows) {
    cells.check_row(row);
    ReliabilityCase one{.id = text_in(cells, row, "id"),
                        .operation = text_in(cells, row, "operation"),
                        .settings = split_at(text_in(cells, row, "set"), ';'),
                        .policy = text_in(cells, row, "policy"),
                        .metric = text_in(cells, row, "metric"),
                        .measured = cells.number(row, "measured", 0.0, 0.0),
                        .role = cells.word(row, "role", CaseRole::kOutcome, kCaseRoles),
                        .source = text_in(cells, row, "source"),
                        .place = {.file = path, .line = row.line}};
    if (std::ranges::find(kMetrics, one.metric) == kMetrics.end()) {
      cells.refuse_cell(row, "metric", "there is no metric '" + one.metric + "'",
                        "one of ettr, wall_hours, wall_minutes, checkpoint_share, faults, selections, "
                        "expected_mtbf_hours, running_mtbf_minutes");
    }
    cases.push_back(std::move(one));
  }
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  return cases;
}

namespace {

// Of a host's memory, by versions of checkpoints.
std::optional<double> held_gigabytes(const planning::Operation& operation) {
  std::optional<double> sum;
  for (const planning::CheckpointTier& tier : operation.tiers) {
    if (tier.held) sum = sum.value_or(0.0) + static_cast<double>(tier.held->count()) / 1e9;
  }
  return sum;
}

}  // namespace

std::optional<double> figure_of(const planning::GoodputResult& result, const ReliabilityCase& wanted) {
  const planning::PolicyOutcome* outcome = &result.outcome;
  if (!wanted.policy.empty() && wanted.policy != outcome->policy) {
    const auto found = std::ranges::find(result.others, wanted.policy, &planning::PolicyOutcome::policy);
    if (found == result.others.end() || !found->refusal.empty()) return std::nullopt;
    outcome = &*found;
  }
  if (wanted.metric == "ettr") return outcome->ettr.mean;
  if (wanted.metric == "wall_hours") return outcome->wall_hours.mean;
  if (wanted.metric == "wall_minutes") return outcome->wall_hours.mean * 60.0;
  if (wanted.metric == "faults") return outcome->faults.mean;
  if (wanted.metric == "selections") return outcome->selections;
  if (wanted.metric == "recoveries_from_start") return outcome->from_start;
  if (wanted.metric == "held_gb") return held_gigabytes(result.operation);
  if (wanted.metric == "expected_mtbf_hours") return result.between_failures() / 3600.0;
  if (wanted.metric == "running_mtbf_minutes") return outcome->running_between_faults_hours * 60.0;
  if (wanted.metric == "checkpoint_share") {
    const auto stall = static_cast<std::size_t>(planning::Account::kCheckpoint);
    return outcome->seconds[stall] / (outcome->wall_hours.mean * 3600.0);
  }
  return std::nullopt;
}

}  // namespace ringwright::validation
