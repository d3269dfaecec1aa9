// Validation against nccl-tests: measured collectives beside the same ones played, and beside NCCL's own formula.
#include <algorithm>

#include "traces/collective_log.h"
#include "validation/builtin.h"
#include "validation/collective_replay.h"
#include "validation/nccl_report.h"
#include "validation/shipped_files.h"

namespace ringwright::validation {
namespace {

// What a calibrated platform should reach; the targets of the project.
constexpr BandLimits kTargets = {0.20, 0.15, 0.10};

struct ReadLogs {
  std::vector<traces::CollectiveLog> logs;
  Diagnostics warnings;
};

Result<ReadLogs> read_all(const std::vector<std::string>& files) {
  ReadLogs all;
  Diagnostics problems;
  for (const std::string& file : files) {
    auto reading = traces::read_collective_log(file);
    if (!reading) {
      for (const Diagnostic& problem : reading.error().all()) problems.add(problem);
      continue;
    }
    for (const Diagnostic& warning : reading->warnings.all()) all.warnings.add(warning);
    all.logs.push_back(std::move(reading->log));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return all;
}

}  // namespace

Result<ValidationOutcome> validate_nccl(const ValidationRequest& request) {
  const bool shipped = request.files.empty();
  auto read = read_all(shipped ? files_in(shipped_folder("nccl"), ".csv") : request.files);
  if (!read) return tl::unexpected(read.error());
  ReplayOptions options{.overrides = request.overrides, .cluster = request.cluster};
  const auto calibrated = replay_all(read->logs, options);
  if (!calibrated) return tl::unexpected(calibrated.error());
  CollectiveTables tables{.logs = *calibrated, .limits = kTargets};
  if (request.threshold) tables.limits.fill(*request.threshold);
  ValidationOutcome outcome;
  outcome.text = collectives_text(tables, shipped ? RowsShown::kNone : RowsShown::kAll);
  outcome.json = collectives_json(tables);
  outcome.passed = within(score_all(*calibrated).simulation, tables.limits);
  outcome.warnings = std::move(read->warnings);
  if (!request.wants_page) return outcome;
  options.use_profile = UseProfile::kNo;
  const auto plain = replay_all(read->logs, options);
  if (!plain) return tl::unexpected(plain.error());
  tables.uncalibrated = &*plain;
  outcome.markdown = collectives_markdown(tables);
  return outcome;
}

}  // namespace ringwright::validation
