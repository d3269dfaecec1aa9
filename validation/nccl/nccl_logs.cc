#include "validation/nccl/nccl_logs.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "traces/input/log_text.h"

namespace ringwright::validation {

namespace {

// For a log whose text does not state its operation; a file's name is only a hint.
void take_operation(const std::string& collective, traces::CollectiveLog& log, Diagnostics& problems) {
  const std::string known = traces::operation_in(collective);
  const std::string& wanted = known.empty() ? collective : known;
  const bool contradicts = !log.operation.empty() && log.operation != wanted && log.operation != collective;
  if (contradicts && !log.operation_of_name) {
    return problems.add({.code = "E244",
                         .place = {.file = log.file},
                         .message = fmt::format("the log is of {}, and --collective states {}", log.operation, wanted),
                         .hint = "--collective is for logs that do not state their operation; leave it out"});
  }
  if (contradicts) {
    problems.add({.severity = Severity::kWarning,
                  .code = "W244",
                  .place = {.file = log.file},
                  .message = fmt::format("the log's name is that of {}; it is read as {}", log.operation, wanted)});
  }
  log.operation = wanted;
}

// A copy would count twice.
bool is_copy(const traces::CollectiveLog& log, NcclLogs& all) {
  for (const traces::CollectiveLog& other : all.logs) {
    if (!is_same_measurement(other, log)) continue;
    all.warnings.add({.severity = Severity::kWarning,
                      .code = "W247",
                      .place = {.file = log.file},
                      .message = fmt::format("the log has the times of '{}', and is left out", other.file)});
    return true;
  }
  return false;
}

}  // namespace

Result<NcclLogs> read_nccl_logs(const std::vector<std::string>& files, const std::optional<std::string>& collective) {
  NcclLogs all;
  Diagnostics problems;
  for (const std::string& file : files) {
    auto reading = traces::read_collective_log(file);
    if (!reading) {
      for (const Diagnostic& problem : reading.error().all()) problems.add(problem);
      continue;
    }
    for (const Diagnostic& warning : reading->warnings.all()) all.warnings.add(warning);
    Diagnostics contradictions;
    if (collective) take_operation(*collective, reading->log, contradictions);
    for (const Diagnostic& found : contradictions.all()) {
      (found.severity == Severity::kError ? problems : all.warnings).add(found);
    }
    if (!is_copy(reading->log, all)) all.logs.push_back(std::move(reading->log));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return all;
}

std::string log_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

}  // namespace ringwright::validation
