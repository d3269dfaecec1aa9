#include "traces/inspector/log_file.h"

#include <utility>

#include "traces/inspector/communication_log.h"
#include "traces/inspector/log_summary.h"

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
  auto log = read_communication_logs(paths);
  if (!log) return {.facts = {}, .tables = {}, .problems = std::move(log.error())};
  return summarise_communication_log(std::move(*log));
}

}  // namespace ringwright::traces
