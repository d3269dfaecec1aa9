// Logs of a running job's communication: NCCL Inspector or RCCL Inspector (JSON), PyTorch's Flight Recorder (JSON).
//
// The Inspector (ext-profiler/inspector of NCCL) writes one file per process with one object per call, pretty-printed
// or one a line. Its coll_msg_size_bytes counts a rank's elements as the NCCL call does: for all-gather and
// reduce-scatter the whole buffer is n_ranks times as large (inspector.cc, inspectorComputeCollBw). Times are whole
// microseconds.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/calls/recorded_call.h"

namespace ringwright::traces {

enum class CommunicationLogKind : std::uint8_t { kInspector, kFlightRecorder };
[[nodiscard]] std::string_view to_string(CommunicationLogKind kind);

// A call that had not ended when the Flight Recorder was dumped.
struct UnfinishedCall {
  int rank = -1;
  std::string group;
  std::string operation;
  std::int64_t sequence = 0;
  std::string state;  // "scheduled", "started"
};

struct CommunicationLog {
  CommunicationLogKind kind = CommunicationLogKind::kInspector;
  std::vector<RankCalls> processes;
  std::vector<UnfinishedCall> unfinished;
  std::size_t records = 0;
  std::size_t without_time = 0;                     // records that are left out
  std::size_t beyond = 0;                           // records whose rank the communicator does not have, left out
  std::size_t repeated = 0;                         // records of a call that its rank has recorded already, left out
  std::size_t dropped = 0;                          // calls that the Inspector itself left out
  std::map<std::string, std::size_t> unknown_keys;  // and how often each occurs
  Diagnostics warnings;
};

[[nodiscard]] Result<CommunicationLog> read_communication_log(const std::string& path);
[[nodiscard]] Result<CommunicationLog> read_communication_log_text(const std::string& name, std::string_view text);
// Files, and folders with all files in them, as one log; all of one kind.
[[nodiscard]] Result<CommunicationLog> read_communication_logs(const std::vector<std::string>& paths);

}  // namespace ringwright::traces
