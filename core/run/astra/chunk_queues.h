// The queues in which chunks wait for their turn on a dimension: so many run at a time, the others wait by priority.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/run/astra/chunk_state.h"

namespace ringwright {

struct QueueRules {
  std::uint32_t dimensions = 1;
  std::uint32_t queues_per_dimension = 1;
  std::uint32_t running_per_queue = 1;
};

class ChunkQueues {
 public:
  ChunkQueues(const QueueRules& rules, std::size_t ranks);

  struct Turn {
    std::uint16_t queue = 0;
    bool reversed = false;
  };
  // The next queue in turn for a phase of a new chunk.
  [[nodiscard]] Turn take_turn(std::uint32_t rank, std::uint32_t dimension, QueueHalf half);

  // Behind chunks of the same priority.
  void add(std::uint32_t chunk, std::vector<ChunkState>& chunks);
  void leave(std::uint32_t rank, std::uint16_t queue) { --at(rank, queue).running; }
  // The next waiting chunk that may run now, taken from the queue.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t rank, std::uint16_t queue,
                                                  std::vector<ChunkState>& chunks);
  void reset();
  [[nodiscard]] const QueueRules& rules() const { return rules_; }

 private:
  struct Queue {
    std::uint32_t first = kNoChunk;  // waiting
    std::uint32_t last = kNoChunk;
    std::uint32_t running = 0;
  };
  struct Cursors {
    std::uint16_t both = 0;
    std::uint16_t first = 0;
    std::uint16_t last = 0;
  };

  Queue& at(std::uint32_t rank, std::uint16_t queue) {
    return queues_[std::size_t{rank} * rules_.dimensions * rules_.queues_per_dimension + queue];
  }

  QueueRules rules_;
  std::vector<Queue> queues_;     // by rank, dimension and number
  std::vector<Cursors> cursors_;  // by rank and dimension
};

}  // namespace ringwright
