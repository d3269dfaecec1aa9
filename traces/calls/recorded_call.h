// Collectives as a rank recorded them, in a form common to profilers' traces and communication logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright::traces {

// A communicator (NCCL) or process group (PyTorch).
struct CallGroup {
  std::string id;           // the same on all of its ranks: "0", "0x3c1f7e2b"
  std::string description;  // "default_pg"; may be empty
  int size = 0;             // ranks; 0: not recorded
  int hosts = 0;            // over which they are spread; 0: not recorded
  std::vector<int> ranks;   // of the job, in the group's order; empty: not recorded
};

// One call. Its time holds waiting for the slowest rank.
struct RecordedCall {
  std::uint32_t group = 0;     // into RankCalls::groups
  std::string operation;       // "all_reduce", as nccl-tests names it; also "send", "recv", "gather", "scatter",
                               // "barrier"
  std::string kernel;          // algorithm and protocol in the kernel's name, "RING_LL"; empty: not in the name
  std::string dtype;           // "BFloat16"; empty: not recorded
  std::optional<Bytes> bytes;  // as nccl-tests counts (the larger of a rank's two buffers); empty: not recorded
  std::int64_t sequence = 0;   // counts the calls of the group
  std::int64_t start_ns = 0;   // of the recorder's clock, where it is recorded
  Duration time;
  Duration shared = {};               // of its time, other calls of this rank ran as well
  std::optional<Bytes> other_buffer;  // the smaller of a rank's two buffers; empty: not both are recorded
  std::int32_t stream = -1;           // of the GPU; -1: not recorded
};

struct RankCalls {
  std::string file;
  int rank = -1;  // -1: not recorded
  std::string host;
  std::vector<CallGroup> groups;
  std::vector<RecordedCall> calls;
};

// "all_reduce" of "allreduce", "_allgather_base", "nccl:all_to_all", "AllReduce", "reduce_scatter_tensor_coalesced";
// empty for words that name no communication ("wait", "init").
[[nodiscard]] std::string_view operation_of(std::string_view word);
// Whether every rank of the group takes part in the same call with buffers of one size: calls that can be simulated.
[[nodiscard]] bool is_collective(std::string_view operation);

// Calls of a group that are counted apart: PyTorch numbers messages apart from collectives, on each rank for itself.
enum class CallCounter : std::uint8_t { kCollectives, kSendRecv, kMessages };
[[nodiscard]] CallCounter counter_of(std::string_view operation);

// GB/s, as nccl-tests computes them. 0 where the size or the time is not known.
struct CallRates {
  double algbw = 0.0;
  double busbw = 0.0;
};
[[nodiscard]] CallRates rates_of(std::string_view operation, int ranks, std::optional<Bytes> bytes, Duration time);

}  // namespace ringwright::traces
