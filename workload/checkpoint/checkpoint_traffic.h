// The transfers of a checkpoint as tasks of the training step.
//
//   host memory    each rank copies its part of the state to the memory of its host, with the GPU's copy engine
//   peer host      in addition, to the memory of `copies` - 1 other hosts over the NICs, in pieces: a piece is
//                  received by the GPU with the same number there, and copied on while the next one arrives (GEMINI,
//                  SOSP 2023)
//   storage        the copy to host memory is written on while it is made
//
// Blocking: a rank begins when its step is over, and its next step begins afterwards. Otherwise it begins with the
// step, and the next step waits until it has ended: the state must not change while it is read (CheckFreq, FAST 2021).
// Storage is written after that, over links that training does not use.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/units.h"
#include "core/plan/task_graph.h"

namespace ringwright::workload {

enum class CheckpointPlace : std::uint8_t { kHostMemory, kPeerHost, kStorage };
enum class CheckpointMode : std::uint8_t { kBlocking, kAsync, kIdle };
[[nodiscard]] std::string_view to_string(CheckpointPlace place);
[[nodiscard]] std::string_view to_string(CheckpointMode mode);

struct CheckpointTraffic {
  CheckpointPlace to = CheckpointPlace::kHostMemory;
  CheckpointMode mode = CheckpointMode::kBlocking;
  Bytes of_rank;                // that one rank saves
  std::int64_t copies = 2;      // kPeerHost: of each rank's part, the one in the memory of its own host included
  std::int64_t jump = 1;        // kPeerHost: hosts between the holders of a part
  std::int64_t pieces = 16;     // kPeerHost
  std::int64_t host_ranks = 8;  // ranks of a host
  Duration write;               // kStorage: until all is written, by its bandwidth (save_time.h)

  // Bytes that one rank sends over the network.
  [[nodiscard]] Bytes to_peers() const;
};

// The dimension of its messages.
inline constexpr std::string_view kCheckpointDimension = "checkpoint";

// Adds the transfers of one checkpoint to every training step of the graph, which leaves no cycles out. With kPeerHost
// all hosts have `host_ranks` ranks each, and there are more than `jump` x (`copies` - 1) hosts. Where `jump` x
// `copies` divides the hosts, the holders of a part are a group that hold each other's; else they are the next ones on
// a ring of all hosts.
void add_checkpoint(TaskGraph& graph, const CheckpointTraffic& traffic);

}  // namespace ringwright::workload
