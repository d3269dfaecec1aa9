#include "traces/inspector/log_summary.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "traces/calls/call_table.h"
#include "traces/calls/joined_calls.h"
#include "traces/calls/slow_groups.h"

namespace ringwright::traces {
namespace {

constexpr double kSlowTolerance = 0.2;
constexpr std::size_t kLogRowsShown = 60;

std::string unfinished_text(const CommunicationLog& log) {
  constexpr std::size_t kShown = 20;
  if (log.unfinished.empty()) return "";
  std::string text = fmt::format("\n{} calls had not ended\n", log.unfinished.size());
  for (std::size_t i = 0; i < std::min(kShown, log.unfinished.size()); ++i) {
    const UnfinishedCall& call = log.unfinished[i];
    text += fmt::format("  rank {}: {} number {} of process group '{}' is {}\n", call.rank,
                        call.operation.empty() ? "call" : call.operation, call.sequence, call.group, call.state);
  }
  if (log.unfinished.size() > kShown) text += fmt::format("  and {} more\n", log.unfinished.size() - kShown);
  return text;
}

}  // namespace

std::string communication_log_text(const CommunicationLog& log) {
  const JoinedCalls joined = join_calls(log.processes);
  std::set<std::string> hosts;
  for (const RankCalls& process : log.processes) hosts.insert(process.host);
  std::string text =
      fmt::format("{}: {} records of {} processes on {} hosts, {} communicators\n\n", to_string(log.kind), log.records,
                  log.processes.size(), hosts.size(), joined.groups.size());
  text += "Collectives; time: the shortest of the ranks, skew: the longest less the shortest (medians)\n";
  text += call_table_text(call_rows(joined), kLogRowsShown);
  if (joined.contradicting > 0) {
    text += fmt::format("  {} records differ from the call of the same number in operation or size\n",
                        joined.contradicting);
  }
  if (const std::string late = lateness_text(joined); !late.empty()) text += "\n" + late;
  if (const std::string slow = slow_groups_text(joined, kSlowTolerance); !slow.empty()) text += "\n" + slow;
  return text + unfinished_text(log);
}

std::string communication_log_json(const CommunicationLog& log) {
  const JoinedCalls joined = join_calls(log.processes);
  std::vector<std::string> rows, late, slow;
  for (const CallRow& row : call_rows(joined)) rows.push_back("    " + call_row_json(row));
  for (const RankLateness& rank : joined.ranks) late.push_back("    " + lateness_json(rank));
  for (const SlowGroup& group : slow_groups(joined, kSlowTolerance)) {
    slow.push_back(
        fmt::format("    {{\"communicator\": {}, \"operation\": {}, \"bytes\": {}, \"median_us\": {:.6g}, "
                    "\"usual_us\": {:.6g}}}",
                    json_text(joined.groups[group.group].id), json_text(group.operation), group.bytes.count(),
                    to_seconds(group.median) * 1e6, to_seconds(group.usual) * 1e6));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.inspect.communication/1\",\n  \"kind\": {},\n  \"records\": {},\n  "
      "\"collectives\": [\n{}\n  ],\n  \"lateness\": [\n{}\n  ],\n  \"slow_communicators\": [\n{}\n  ],\n  "
      "\"unfinished\": {}\n}}\n",
      json_text(to_string(log.kind)), log.records, fmt::join(rows, ",\n"), fmt::join(late, ",\n"),
      fmt::join(slow, ",\n"), log.unfinished.size());
}

}  // namespace ringwright::traces
