// Validation against traces of PyTorch's profiler: measured collectives, and kernels of operators, against simulated
// ones.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "configs/scenario/named_machine.h"
#include "traces/calls/call_table.h"
#include "traces/calls/slow_groups.h"
#include "traces/inspector/communication_log.h"
#include "traces/kineto/kernel_name.h"
#include "traces/kineto/kineto_summary.h"
#include "validation/builtin.h"
#include "validation/kineto/call_replay.h"
#include "validation/kineto/call_report.h"
#include "validation/kineto/operator_replay.h"
#include "validation/kineto/operator_report.h"
#include "validation/kineto/stream_groups.h"

namespace ringwright::validation {
namespace {

Diagnostics what_is_missing(const ValidationRequest& request, std::string_view kind, std::string_view files) {
  Diagnostics problems;
  if (request.files.empty()) {
    problems.add({.code = "E264", .message = fmt::format("`validate {}` needs {}", kind, files), .excerpt = ""});
  }
  if (!request.cluster) {
    problems.add({.code = "E264",
                  .message = fmt::format("`validate {}` needs the cluster that was measured", kind),
                  .excerpt = "",
                  .hint = "--cluster dgx-h100, or a file with a map `cluster`"});
  }
  return problems;
}

CallReplayOptions options_of(const ValidationRequest& request, int ranks) {
  return {.cluster = *request.cluster, .overrides = request.overrides, .hosts = request.hosts, .ranks = ranks};
}

void add_all(Diagnostics& all, const Diagnostics& more) {
  for (const Diagnostic& one : more.all()) all.add(one);
}

// Records of other ranks that cannot be of the call that they were joined to.
void warn_of_contradictions(const traces::JoinedCalls& joined, const std::string& file, Diagnostics& warnings) {
  if (joined.contradicting == 0) return;
  warnings.add({.severity = Severity::kWarning,
                .code = "W265",
                .place = {.file = file},
                .message = fmt::format("{} records of ranks are left out: they differ in operation or size from the "
                                       "call of the same number in their process group",
                                       joined.contradicting),
                .hint = "profile one window on all ranks; sizes of uneven all-to-alls differ in any case"});
}

// By the kernels' arguments where the trace has no version; empty where these do not tell either.
std::string version_of(const traces::KinetoTrace& trace) {
  if (!trace.nccl_version.empty()) return trace.nccl_version;
  for (const std::string& name : trace.names) {
    if (const std::string_view version = traces::nccl_of_kernel(name); !version.empty()) return std::string(version);
  }
  return "";
}

// Of kernels; with the trace's version of NCCL unless the user states another one.
Result<CallReplayOptions> kernel_options(const ValidationRequest& request, const traces::KinetoSummary& summary) {
  CallReplayOptions options = options_of(request, summary.ranks.front().world_size);
  options.kernels = true;
  const auto machine = configs::load_named_machine(options.cluster, {.overrides = {}, .share_folders = {}});
  if (!machine) return tl::unexpected(machine.error());
  const std::string version = version_of(summary.ranks.front());
  if (machine->cluster.gpu.nvidia && !version.empty()) {
    options.overrides.insert(options.overrides.begin(), fmt::format("comm.nccl_version=\"{}\"", version));
  }
  return options;
}

Diagnostics place_groups(const ValidationRequest& request, traces::KinetoSummary& summary) {
  if (request.groups.empty()) return {};
  const auto groups = parse_stream_groups(request.groups, summary.ranks.front().world_size);
  if (!groups) return groups.error();
  std::vector<traces::RankCalls> calls;
  Diagnostics problems;
  for (const traces::KinetoTrace& trace : summary.ranks) {
    calls.push_back(trace.calls);
    const Diagnostics wrong = place_streams(*groups, calls.back());
    add_all(problems, wrong);
  }
  summary.joined = traces::join_calls(calls);
  return problems;
}

}  // namespace

Result<ValidationOutcome> validate_kineto(const ValidationRequest& request) {
  if (auto missing = what_is_missing(request, "kineto", "the traces of a job"); missing.has_errors()) {
    return tl::unexpected(std::move(missing));
  }
  auto summary = traces::summarise_kineto(request.files);
  if (!summary) return tl::unexpected(summary.error());
  if (auto wrong = place_groups(request, *summary); wrong.has_errors()) return tl::unexpected(std::move(wrong));
  const auto options = kernel_options(request, *summary);
  if (!options) return tl::unexpected(options.error());
  const auto replay = replay_calls(summary->joined, *options);
  if (!replay) return tl::unexpected(replay.error());
  const auto machine =
      configs::load_named_machine(*request.cluster, {.overrides = request.overrides, .share_folders = {}});
  if (!machine) return tl::unexpected(machine.error());
  const OperatorReplay operators = replay_operators(summary->ranks, machine->cluster.gpu);
  ValidationOutcome outcome;
  if (!replay->rows.empty()) {
    outcome.text = calls_text(*replay, CallsBy::kShape) + "\n" + bands_text(*replay);
    outcome.text += summary->ranks.size() > 1
                        ? "  measured: the shortest time over the ranks, median over the calls\n"
                        : "  measured: the shortest of the calls, since one rank's times include waiting for others\n";
  }
  if (const std::string text = operators_text(operators); !text.empty()) outcome.text += "\n" + text;
  const bool nothing = outcome.text.empty();
  if (nothing) outcome.text = "nothing to compare: no collective with a size, no operators with shapes\n";
  outcome.json = calls_json(*replay, operators);
  outcome.passed = !nothing && within(*replay, request.threshold);
  outcome.warnings = std::move(summary->warnings);
  warn_of_contradictions(summary->joined, request.files.front(), outcome.warnings);
  add_all(outcome.warnings, why_left_out(*replay, request.files.front()));
  return outcome;
}

Result<ValidationOutcome> validate_nccl_inspector(const ValidationRequest& request) {
  if (auto missing = what_is_missing(request, "nccl-inspector", "the logs of a job, or their folder");
      missing.has_errors()) {
    return tl::unexpected(std::move(missing));
  }
  auto log = traces::read_communication_logs(request.files);
  if (!log) return tl::unexpected(log.error());
  const traces::JoinedCalls joined = traces::join_calls(log->processes);
  int ranks = 0;
  for (const traces::CallGroup& group : joined.groups) ranks = std::max(ranks, group.size);
  CallReplayOptions options = options_of(request, ranks);
  options.by = CallsBy::kCommunicator;
  const auto replay = replay_calls(joined, options);
  if (!replay) return tl::unexpected(replay.error());
  ValidationOutcome outcome;
  outcome.text = calls_text(*replay, CallsBy::kCommunicator) + "\n" + bands_text(*replay);
  if (const std::string late = traces::lateness_text(joined); !late.empty()) outcome.text += "\n" + late;
  if (const std::string slow = traces::slow_groups_text(joined, 0.2); !slow.empty()) outcome.text += "\n" + slow;
  if (replay->rows.empty()) outcome.text += "\nnothing to compare: no collective with a size and a time\n";
  outcome.json = calls_json(*replay, {});
  outcome.passed = !replay->rows.empty() && within(*replay, request.threshold);
  outcome.warnings = std::move(log->warnings);
  warn_of_contradictions(joined, request.files.front(), outcome.warnings);
  add_all(outcome.warnings, why_left_out(*replay, request.files.front()));
  return outcome;
}

}  // namespace ringwright::validation
