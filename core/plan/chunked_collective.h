// A collective cut into chunks that go through phases one after another, as ASTRA-sim executes it: who sends what to
// whom in which order, without a clock.
//
// Ranks appear as positions in the group. A phase runs along one dimension: `nodes` positions that are `stride` apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringwright {

enum class PeerRule : std::uint8_t { kShift, kXor };

// A message to the position `distance` further on (modulo the dimension), and one received from as far back; or both
// to and from the position whose index differs in the bits of `distance`.
struct MessageStep {
  PeerRule rule = PeerRule::kShift;
  std::uint32_t distance = 1;
  std::int64_t bytes = 0;
  friend bool operator==(const MessageStep&, const MessageStep&) = default;
};

// Before a message is sent, and after the last ones are received, a packet is handled at the endpoint.
enum class PacketRole : std::uint8_t { kOut, kThrough, kIn };  // from memory, from one link to the next, to memory
struct Packet {
  std::int64_t bytes = 0;
  PacketRole role = PacketRole::kOut;
  bool reduced = false;
  friend bool operator==(const Packet&, const Packet&) = default;
};
struct PacketRun {
  std::uint32_t count = 0;
  Packet each;
  friend bool operator==(const PacketRun&, const PacketRun&) = default;
};

// The parent and children of a position in a binary tree; kNoPosition where there is none.
inline constexpr std::uint32_t kNoPosition = UINT32_MAX;
struct TreeRole {
  std::uint32_t parent = kNoPosition;
  std::uint32_t left = kNoPosition;
  std::uint32_t right = kNoPosition;
  friend bool operator==(const TreeRole&, const TreeRole&) = default;
};

enum class PhaseShape : std::uint8_t {
  kWindow,  // messages in a fixed order, at most `window` of them ahead of what was received
  kTree,    // up a tree and down again
  kGraphs,  // a graph of sends, receives and computations for each position
};

// Which half of the queues of its dimension a phase takes turns on.
enum class QueueHalf : std::uint8_t { kBoth, kFirst, kLast };

struct ChunkPhase {
  PhaseShape shape = PhaseShape::kWindow;
  QueueHalf half = QueueHalf::kBoth;
  std::uint32_t dimension = 0;  // whose queues it takes
  std::uint32_t nodes = 1;
  std::uint32_t stride = 1;

  // kWindow. One step stands for all messages when they are identical.
  std::vector<MessageStep> steps = {};
  std::uint32_t messages = 0;  // sent, and received, by every position
  std::uint32_t window = 1;
  std::uint32_t gate = 0;  // message with this index and later ones wait until as many are received; 0: none
  std::vector<PacketRun> packets = {};
  std::uint32_t packet_period = 0;  // the runs repeat after so many packets

  // kTree
  std::int64_t bytes = 0;
  std::vector<TreeRole> roles = {};         // by index in the dimension
  std::vector<TreeRole> second_roles = {};  // every second chunk uses these

  // kGraphs
  std::uint32_t graph_set = 0;

  [[nodiscard]] const MessageStep& step(std::uint32_t message) const {
    return steps.size() == 1 ? steps.front() : steps[message];
  }
  friend bool operator==(const ChunkPhase&, const ChunkPhase&) = default;
};

struct ChunkedCollective {
  std::uint32_t chunks = 0;
  std::vector<ChunkPhase> phases = {};  // of every chunk; empty: nothing to do
  bool pays_endpoint_delay = true;      // false: the fixed delay of communicator groups, whatever is configured
  friend bool operator==(const ChunkedCollective&, const ChunkedCollective&) = default;
};

}  // namespace ringwright
