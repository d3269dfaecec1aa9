// One chunk of a collective on one rank, and the collective it belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/chunked_collective.h"

namespace ringwright {

inline constexpr std::uint32_t kNoChunk = UINT32_MAX;

// A collective in progress: all chunks of all members lie one after another, those of a member together.
struct OpenCollective {
  const ChunkedCollective* plan = nullptr;
  std::span<const std::uint32_t> members = {};  // ranks by position; empty: position = rank
  std::uint32_t size = 0;                       // positions
  std::uint32_t first_chunk = 0;
  std::uint32_t unfinished = 0;  // members that have chunks to finish
  bool folded = false;           // one rank stands for all positions
};

enum class ChunkStage : std::uint8_t { kIdle, kQueued, kRunning };
enum class TreeStage : std::uint8_t { kRising, kFalling, kDone };

// One cache line: where ranks are not in step, chunks follow each other at random.
struct alignas(64) ChunkState {
  std::uint32_t collective = 0;
  std::uint32_t rank = 0;         // whose queues and clock it uses
  std::uint32_t position = 0;     // in the group
  std::uint32_t next = kNoChunk;  // in the list of waiting chunks of a queue
  std::int64_t priority = 0;

  std::uint16_t phase = 0;
  std::uint16_t queue = 0;
  ChunkStage stage = ChunkStage::kIdle;
  TreeStage tree = TreeStage::kRising;
  bool reversed = false;          // rings run anticlockwise
  std::uint32_t chunks_done = 0;  // of the member; counted in its first chunk

  // Of the phase:
  std::uint32_t packets = 0;    // handed to the endpoint
  std::uint32_t completed = 0;  // of these, handled
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t waits_for = kNoPosition;  // sender of the one message that is awaited; kNoPosition: none, or several
};

}  // namespace ringwright
