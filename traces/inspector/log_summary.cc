#include "traces/inspector/log_summary.h"

#include <utility>

#include "traces/calls/call_summary.h"

namespace ringwright::traces {
namespace {

// Where a hang is looked for first.
SummaryTable table_of(const std::vector<UnfinishedCall>& unfinished) {
  SummaryTable table{.title = "unfinished calls",
                     .columns = {"rank", "process group", "operation", "number", "state"},
                     .rows = {}};
  for (const UnfinishedCall& call : unfinished) {
    table.rows.push_back({std::int64_t{call.rank}, call.group, call.operation.empty() ? "-" : call.operation,
                          call.sequence, call.state});
  }
  return table;
}

}  // namespace

FileSummary summarise_communication_log(CommunicationLog log) {
  const JoinedCalls joined = join_calls(log.processes);
  return {.facts = {{.name = "written by", .value = std::string(to_string(log.kind))},
                    {.name = "records", .value = static_cast<std::int64_t>(log.records)},
                    {.name = "processes", .value = static_cast<std::int64_t>(log.processes.size())},
                    {.name = "communicators", .value = static_cast<std::int64_t>(joined.groups.size())},
                    {.name = "calls of one rank only", .value = static_cast<std::int64_t>(joined.alone)},
                    {.name = "records that contradict", .value = static_cast<std::int64_t>(joined.contradicting)},
                    {.name = "calls that had not ended", .value = static_cast<std::int64_t>(log.unfinished.size())}},
          .tables = {table_of(log.unfinished), summarise_calls(joined), summarise_lateness(joined),
                     summarise_slow_groups(joined)},
          .problems = std::move(log.warnings)};
}

}  // namespace ringwright::traces
