// The kinds of events in the queue of a job that runs by ASTRA-sim's rules.
#pragma once

#include <cstdint>

#include "core/base/ticks.h"

namespace ringwright {

enum class JobEvent : std::uint32_t {
  kRankBatch,    // index: a batch of RankEvents
  kArrival,      // index: a message_token
  kNetwork,      // for the network
  kLateMessage,  // index: a chunk whose message had arrived before it was waited for
  kRing,         // for the network
};

[[nodiscard]] constexpr TickEvent job_event(JobEvent kind, std::uint32_t index) {
  return {.kind = static_cast<std::uint32_t>(kind), .index = index};
}

// What runs at a moment of one rank.
enum class RankEventKind : std::uint32_t {
  kPacket,         // index: a chunk; extra: ticks that its reduction takes
  kNodeDone,       // index: a node of the rank's graph
  kGraphNodeDone,  // index: a chunk; extra: a node of its graph
  kRingPacket,     // index: an execution of GroupCalls; extra: ticks that its reduction takes
};

// Messages of collectives and of nodes share a network.
enum class MessageOwner : std::uint32_t { kChunk, kNode };
[[nodiscard]] constexpr std::uint32_t message_token(MessageOwner owner, std::uint32_t index) {
  return index << 1U | static_cast<std::uint32_t>(owner);
}
[[nodiscard]] constexpr MessageOwner owner_of(std::uint32_t token) {
  return static_cast<MessageOwner>(token & 1U);
}

}  // namespace ringwright
