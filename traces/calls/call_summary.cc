#include "traces/calls/call_summary.h"

#include "traces/calls/call_table.h"
#include "traces/calls/slow_groups.h"

namespace ringwright::traces {

SummaryTable summarise_calls(const JoinedCalls& joined) {
  SummaryTable table{.title = "collectives",
                     .columns = {"operation", "type", "kernel", "ranks", "calls", "size", "min", "median", "max",
                                 "skew", "busbw GB/s"},
                     .rows = {}};
  for (const CallRow& row : call_rows(joined)) {
    table.rows.push_back({row.operation, row.dtype.empty() ? "-" : row.dtype, row.kernel.empty() ? "-" : row.kernel,
                          std::int64_t{row.group_size}, static_cast<std::int64_t>(row.count), row.bytes, row.shortest,
                          row.median, row.longest, row.median_skew,
                          row.bytes ? std::optional(row.busbw) : std::nullopt});
  }
  return table;
}

SummaryTable summarise_lateness(const JoinedCalls& joined) {
  SummaryTable table{.title = "arrivals", .columns = {"rank", "host", "calls", "last", "waited for"}, .rows = {}};
  if (!latest_rank(joined)) return table;
  for (const RankLateness& rank : joined.ranks) {
    table.rows.push_back({std::int64_t{rank.rank}, rank.host.empty() ? "-" : rank.host,
                          static_cast<std::int64_t>(rank.calls), static_cast<std::int64_t>(rank.last),
                          rank.waited_for});
  }
  return table;
}

SummaryTable summarise_slow_groups(const JoinedCalls& joined) {
  constexpr double kTolerance = 0.2;
  SummaryTable table{.title = "slow communicators",
                     .columns = {"communicator", "operation", "calls", "size", "median", "usual"},
                     .rows = {}};
  for (const SlowGroup& slow : slow_groups(joined, kTolerance)) {
    table.rows.push_back({joined.groups[slow.group].id, slow.operation, static_cast<std::int64_t>(slow.calls),
                          slow.bytes, slow.median, slow.usual});
  }
  return table;
}

}  // namespace ringwright::traces
