// Validation against nccl-tests: measured collectives against the same ones simulated, and against NCCL's own formula.
#include "validation/builtin.h"

#include <string>

#include "validation/nccl/collective_replay.h"
#include "validation/nccl/nccl_logs.h"
#include "validation/nccl/nccl_report.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

// Target errors of a calibrated platform; the targets of the project.
constexpr BandLimits kTargets = {0.20, 0.15, 0.10};

}  // namespace

Result<ValidationOutcome> validate_nccl(const ValidationRequest& request) {
  const bool shipped = request.files.empty();
  auto read = read_nccl_logs(shipped ? files_in(shipped_folder("nccl"), ".csv") : request.files, request.collective);
  if (!read) return tl::unexpected(read.error());
  ReplayOptions options{.overrides = request.overrides, .cluster = request.cluster, .node = request.node};
  if (request.classes) options.classes = *request.classes;
  if (request.profile == "none") {
    options.use_profile = UseProfile::kNo;
  } else {
    options.profile = request.profile;
  }
  auto replays = replay_each(read->logs, options);
  if (!replays) return tl::unexpected(replays.error());
  const std::vector<ReplayedLog>* const calibrated = &replays->logs;
  CollectiveTables tables{.logs = *calibrated, .limits = kTargets};
  if (request.threshold) tables.limits.fill(*request.threshold);
  ValidationOutcome outcome;
  outcome.text = collectives_text(tables, shipped ? RowsShown::kNone : RowsShown::kAll);
  outcome.json = collectives_json(tables);
  outcome.passed = replays->refusals == 0 && within(score_all(*calibrated).simulation, tables.limits);
  outcome.warnings = std::move(read->warnings);
  for (const Diagnostic& warning : replays->refused.all()) outcome.warnings.add(warning);
  if (!request.wants_page) return outcome;
  options.use_profile = UseProfile::kNo;
  options.profile.reset();
  const auto plain = replay_each(read->logs, options);
  if (!plain) return tl::unexpected(plain.error());
  tables.uncalibrated = &plain->logs;
  outcome.markdown = collectives_markdown(tables);
  if (!shipped) return outcome;
  // Machines that were never measured come first: users' machines are such.
  const std::size_t below_title = outcome.markdown.find('\n') + 1;
  const std::string left_out = text_of_file(shipped_folder("nccl") + "/leave_one_out.md");
  outcome.markdown.insert(below_title, "\n" + left_out + "\n## In-sample errors\n");
  // The causes of misses are written by hand, next to the logs.
  outcome.markdown += "\n" + text_of_file(shipped_folder("nccl") + "/causes.md");
  return outcome;
}

}  // namespace ringwright::validation
