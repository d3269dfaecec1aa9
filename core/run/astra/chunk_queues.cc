#include "core/run/astra/chunk_queues.h"

#include <algorithm>

namespace ringwright {

ChunkQueues::ChunkQueues(const QueueRules& rules, std::size_t ranks)
    : rules_(rules),
      queues_(ranks * rules.dimensions * rules.queues_per_dimension),
      cursors_(ranks * rules.dimensions) {
  reset();
}

void ChunkQueues::reset() {
  std::ranges::fill(queues_, Queue());
  const auto half = static_cast<std::uint16_t>(rules_.queues_per_dimension / 2);
  std::ranges::fill(cursors_, Cursors{.last = half});
}

// Phases that reduce take turns on the first half of the queues, those that gather on the second; collectives that are
// not split take all. The second half runs its rings anticlockwise.
ChunkQueues::Turn ChunkQueues::take_turn(std::uint32_t rank, std::uint32_t dimension, QueueHalf half) {
  const auto count = static_cast<std::uint16_t>(rules_.queues_per_dimension);
  const auto middle = static_cast<std::uint16_t>(count / 2);
  Cursors& cursors = cursors_[std::size_t{rank} * rules_.dimensions + dimension];
  std::uint16_t number = 0;
  switch (half) {
    case QueueHalf::kBoth:
      number = cursors.both++;
      if (cursors.both >= count) cursors.both = 0;
      break;
    case QueueHalf::kFirst:
      number = cursors.first++;
      if (cursors.first >= middle) cursors.first = 0;
      break;
    case QueueHalf::kLast:
      number = cursors.last++;
      if (cursors.last >= count) cursors.last = middle;
      break;
  }
  return {.queue = static_cast<std::uint16_t>(dimension * count + number), .reversed = count > 1 && number >= middle};
}

void ChunkQueues::add(std::uint32_t chunk, std::vector<ChunkState>& chunks) {
  ChunkState& state = chunks[chunk];
  Queue& queue = at(state.rank, state.queue);
  state.stage = ChunkStage::kQueued;
  std::uint32_t before = queue.last;
  if (before != kNoChunk && chunks[before].priority < state.priority) {
    before = kNoChunk;
    for (std::uint32_t i = queue.first; chunks[i].priority >= state.priority; i = chunks[i].next) before = i;
  }
  if (before == kNoChunk) {
    state.next = queue.first;
    queue.first = chunk;
  } else {
    state.next = chunks[before].next;
    chunks[before].next = chunk;
  }
  if (state.next == kNoChunk) queue.last = chunk;
}

std::optional<std::uint32_t> ChunkQueues::next(std::uint32_t rank, std::uint16_t queue_index,
                                               std::vector<ChunkState>& chunks) {
  Queue& queue = at(rank, queue_index);
  if (queue.first == kNoChunk || queue.running >= rules_.running_per_queue) return std::nullopt;
  const std::uint32_t chunk = queue.first;
  queue.first = chunks[chunk].next;
  if (queue.first == kNoChunk) queue.last = kNoChunk;
  ++queue.running;
  chunks[chunk].stage = ChunkStage::kRunning;
  return chunk;
}

}  // namespace ringwright
