// Collectives of one kind, size and group size as a row: how many, how long, and the bandwidth they reached.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "traces/calls/joined_calls.h"

namespace ringwright::traces {

struct CallRow {
  std::string operation;
  std::string dtype;
  std::optional<Bytes> bytes;
  int group_size = 0;
  std::string kernel;
  std::size_t count = 0;
  // Of each call's own time: the shortest over the ranks that recorded it.
  Duration shortest;
  Duration median;
  Duration longest;
  Duration median_skew;  // zero where one rank recorded the calls
  Duration sum;
  double algbw = 0.0;  // GB/s at the median
  double busbw = 0.0;
};

// By total time, the longest first.
[[nodiscard]] std::vector<CallRow> call_rows(const JoinedCalls& joined);
// Columns with a heading; the `most` rows of most time, then how many are left out.
[[nodiscard]] std::string call_table_text(const std::vector<CallRow>& rows, std::size_t most);
// Who arrives last, and for how long the others wait; empty for one rank.
[[nodiscard]] std::string lateness_text(const JoinedCalls& joined);

// One JSON object each.
[[nodiscard]] std::string call_row_json(const CallRow& row);
[[nodiscard]] std::string lateness_json(const RankLateness& rank);

}  // namespace ringwright::traces
