#include "traces/inspector/log_file.h"

#include <utility>

#include "traces/calls/call_summary.h"
#include "traces/inspector/communication_log.h"

namespace ringwright::traces {

bool looks_like_communication_log(std::string_view beginning) {
  const auto has = [&](std::string_view word) { return beginning.find(word) != std::string_view::npos; };
  // A pickle is recognised as well: its refusal says how to dump JSON.
  const bool pickle = beginning.starts_with('\x80') && has("pg_config");
  return has("\"coll_perf\"") || has("\"p2p_perf\"") || has("\"inspector_output_format_version\"") ||
         has("\"collective_seq_id\"") || has("\"pg_status\"") || pickle;
}

FileSummary summarise_communication_log_file(const std::string& path) {
  return summarise_communication_log_job({path});
}

FileSummary summarise_communication_log_job(const std::vector<std::string>& paths) {
  FileSummary summary;
  auto log = read_communication_logs(paths);
  if (!log) {
    summary.problems = std::move(log.error());
    return summary;
  }
  const JoinedCalls joined = join_calls(log->processes);
  summary.problems = std::move(log->warnings);
  summary.facts = {{.name = "written by", .value = std::string(to_string(log->kind))},
                   {.name = "records", .value = static_cast<std::int64_t>(log->records)},
                   {.name = "processes", .value = static_cast<std::int64_t>(log->processes.size())},
                   {.name = "communicators", .value = static_cast<std::int64_t>(joined.groups.size())},
                   {.name = "calls that had not ended", .value = static_cast<std::int64_t>(log->unfinished.size())}};
  summary.tables = {summarise_calls(joined), summarise_lateness(joined), summarise_slow_groups(joined)};
  return summary;
}

}  // namespace ringwright::traces
