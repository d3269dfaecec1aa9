// Collectives and their chunks: from entering to the last phase, through the queues.
#include "core/run/astra/chunk_streams.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/run/astra/chunk_graphs.h"

namespace ringwright {

ChunkStreams::ChunkStreams(const StreamRules& rules, std::size_t ranks, const Surroundings& around)
    : rules_(rules), around_(around), queues_(rules.queues, ranks) {}

void ChunkStreams::reset() {
  CHECK(rendezvous_.empty() && counts_.empty(), "messages of a collective were left over");
  open_.clear();
  free_open_.clear();
  free_blocks_.clear();
  chunks_.clear();
  turns_.clear();
  queues_.reset();
}

std::uint32_t ChunkStreams::open(const OpenCollective& collective) {
  std::uint32_t index = static_cast<std::uint32_t>(open_.size());
  if (free_open_.empty()) {
    open_.emplace_back();
  } else {
    index = free_open_.back();
    free_open_.pop_back();
  }
  OpenCollective& open = open_[index] = collective;
  open.unfinished = open.folded ? 1 : open.size;
  const std::uint32_t count = open.unfinished * open.plan->chunks;
  std::vector<std::uint32_t>& blocks = free_blocks_[count];
  if (blocks.empty()) {
    open.first_chunk = static_cast<std::uint32_t>(chunks_.size());
    CHECK(chunks_.size() + count < kNoChunk, "more chunks than can be numbered");
    chunks_.resize(chunks_.size() + count);
  } else {
    open.first_chunk = blocks.back();
    blocks.pop_back();
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t position = i / open.plan->chunks;
    chunks_[open.first_chunk + i] = {
        .collective = index, .rank = open.members.empty() ? position : open.members[position], .position = position};
  }
  return index;
}

void ChunkStreams::close(std::uint32_t collective) {
  const OpenCollective& open = open_[collective];
  free_blocks_[(open.folded ? 1 : open.size) * open.plan->chunks].push_back(open.first_chunk);
  free_open_.push_back(collective);
}

std::uint32_t ChunkStreams::chunk_at(const ChunkState& like, std::uint32_t position) const {
  const OpenCollective& open = open_[like.collective];
  const auto self = static_cast<std::uint32_t>(&like - chunks_.data());
  const std::uint32_t index = (self - open.first_chunk) % open.plan->chunks;
  return open.folded ? self : open.first_chunk + position * open.plan->chunks + index;
}

void ChunkStreams::enter(std::uint32_t collective, std::uint32_t position, std::int64_t priority) {
  const OpenCollective open = open_[collective];
  const std::uint32_t first = open.first_chunk + position * open.plan->chunks;
  for (std::uint32_t chunk = first; chunk < first + open.plan->chunks; ++chunk) {
    chunks_[chunk].priority = priority;
    const std::uint32_t rank = chunks_[chunk].rank;
    if (rules_.queues.queues_per_dimension > 1) {
      if (turns_.size() < chunks_.size()) turns_.resize(chunks_.size());
      turns_[chunk].clear();
      for (const ChunkPhase& phase : open.plan->phases) {
        turns_[chunk].push_back(queues_.take_turn(rank, phase.dimension, phase.half));
      }
    }
    begin_phase(chunk);
    start_next(rank, chunks_[chunk].queue);
  }
}

// Puts the chunk into the queue of its phase.
void ChunkStreams::begin_phase(std::uint32_t chunk) {
  ChunkState& state = chunks_[chunk];
  const ChunkPhase& phase = phase_of(state);
  ChunkQueues::Turn turn{.queue = static_cast<std::uint16_t>(phase.dimension)};
  if (rules_.queues.queues_per_dimension > 1) turn = turns_[chunk][state.phase];
  state.queue = turn.queue;
  state.reversed = turn.reversed;
  state.packets = state.completed = state.sent = state.received = 0;
  state.waits_for = kNoPosition;
  state.tree = TreeStage::kRising;
  queues_.add(chunk, chunks_);
}

void ChunkStreams::start_next(std::uint32_t rank, std::uint16_t queue) {
  while (const auto chunk = queues_.next(rank, queue, chunks_)) start(*chunk);
}

void ChunkStreams::start(std::uint32_t chunk) {
  const ChunkPhase& phase = phase_of(chunks_[chunk]);
  switch (phase.shape) {
    case PhaseShape::kWindow:
      for (std::uint32_t i = 0; i < phase.window; ++i) add_window_packet(chunk);
      break;
    case PhaseShape::kTree: start_tree(chunk); break;
    case PhaseShape::kGraphs:
      CHECK(around_.graphs != nullptr, "a phase that is a graph needs someone to run it");
      around_.graphs->start(chunk, *this);
      break;
  }
}

// In ASTRA-sim's order: the collective learns of its last chunk while that one still occupies its queue; a chunk is in
// its next queue before another one takes its place.
void ChunkStreams::finish_phase(std::uint32_t chunk) {
  ChunkState& state = chunks_[chunk];
  const OpenCollective& open = open_[state.collective];
  const std::uint32_t rank = state.rank;
  const std::uint16_t queue = state.queue;
  const bool is_last = state.phase + 1U == open.plan->phases.size();
  if (!is_last) {
    ++state.phase;
    begin_phase(chunk);
    queues_.leave(rank, queue);
    start_next(rank, queue);
    start_next(rank, chunks_[chunk].queue);
    return;
  }
  state.stage = ChunkStage::kIdle;
  const std::uint32_t collective = state.collective;
  const std::uint32_t position = state.position;
  const std::uint32_t first = open.first_chunk + position * open.plan->chunks;
  const bool member_done = ++chunks_[first].chunks_done == open.plan->chunks;
  if (member_done) {
    --open_[collective].unfinished;
    around_.listener.on_member_done(collective, position);
  }
  queues_.leave(rank, queue);
  start_next(rank, queue);
}

}  // namespace ringwright
