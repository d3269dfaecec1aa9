// The same collective as recorded by several ranks: its own time, the waiting in it, and who was waited for.
//
// A rank's time of a call includes waiting for the others; the last rank to arrive waits for nobody. Hence the shortest
// time is the collective's own, the difference to the longest is the skew of arrivals, and the rank of the shortest
// time is the one that was waited for. No synchronised clocks are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "traces/calls/recorded_call.h"

namespace ringwright::traces {

struct JoinedCall {
  std::uint32_t group = 0;  // into JoinedCalls::groups
  std::string operation;
  std::string kernel;
  std::string dtype;
  std::optional<Bytes> bytes;
  std::int64_t sequence = 0;
  int recorded = 0;  // ranks that recorded it
  Duration shortest;
  Duration longest;
  Duration shared = {};               // of the shortest record: other calls of its rank ran as well
  std::optional<Bytes> other_buffer;  // as of a record, of the first rank
  int last_rank = -1;                 // -1: one record only, or several of the shortest time
};

// How often others waited for a rank, and how long.
struct RankLateness {
  int rank = 0;
  std::string host;
  std::size_t calls = 0;  // recorded by it and by others
  std::size_t last = 0;   // of these, it arrived last
  Duration waited_for;    // over these, the longest wait of another rank
};

struct JoinedCalls {
  std::vector<CallGroup> groups;
  std::vector<JoinedCall> calls;    // by group, then by number; messages are not joined
  std::vector<RankLateness> ranks;  // by rank
  std::size_t alone = 0;          // calls that one rank recorded and others of its group, present in the files, did not
  std::size_t contradicting = 0;  // records that differ from the first of their call in operation or size
};

[[nodiscard]] JoinedCalls join_calls(const std::vector<RankCalls>& ranks);

// The rank that was last most often; empty where no call has two records.
[[nodiscard]] std::optional<RankLateness> latest_rank(const JoinedCalls& joined);

}  // namespace ringwright::traces
