// Executes chunked collectives over a network of messages: every chunk goes through its phases on every rank.
//
// A packet costs the endpoint a fixed delay, and three passes over local memory when it is reduced. A message is
// received when it has arrived and the receiver's chunk waits for it, in whatever order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/tick_queue.h"
#include "core/ports/message_network.h"
#include "core/run/astra/chunk_queues.h"
#include "core/run/astra/chunk_state.h"
#include "core/run/astra/message_counts.h"
#include "core/run/astra/rank_events.h"

namespace ringwright {

// LogGP of a bus between accelerator and memory. Transfers do not wait for each other: exact where one is in flight.
struct SharedBus {
  double latency = 0.0;
  double overhead = 0.0;
  double gap_per_byte = 0.0;
  Tick reduction_per_100_bytes = 1;

  [[nodiscard]] Tick delay(const Packet& packet) const;
};

struct StreamRules {
  QueueRules queues;
  Tick endpoint_delay = 10;
  double local_bytes_per_ns = 1.0;
  bool rendezvous = false;
  std::optional<SharedBus> bus = {};
};

// The packet handled before a message, or after the last ones are received.
[[nodiscard]] Packet packet_at(const ChunkPhase& phase, std::uint32_t packet);

// What a packet costs the endpoint.
struct EndpointTime {
  Tick delay = 0;
  Tick reduction = 0;  // afterwards
};
[[nodiscard]] EndpointTime endpoint_time(const StreamRules& rules, const ChunkedCollective& plan, const Packet& packet);

// To whom a position sends in a step, and from whom it receives.
struct PhasePeers {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
};
[[nodiscard]] PhasePeers peers_in(const ChunkPhase& phase, std::uint32_t position, const MessageStep& step);

class ChunkListener {
 public:
  virtual ~ChunkListener() = default;
  // All chunks of a member are done; other members may not be.
  virtual void on_member_done(std::uint32_t collective, std::uint32_t position) = 0;
};

class ChunkGraphs;

class ChunkStreams {
 public:
  // Everything that it talks to, and that must outlive it.
  struct Surroundings {
    TickQueue& queue;
    RankEvents& events;
    MessageNetwork& network;
    ChunkListener& listener;
    ChunkGraphs* graphs = nullptr;  // for phases that are graphs
  };
  ChunkStreams(const StreamRules& rules, std::size_t ranks, const Surroundings& around);

  // The plan and the members must outlive the collective.
  [[nodiscard]] std::uint32_t open(const OpenCollective& collective);
  // All members are done.
  void close(std::uint32_t collective);
  // A member takes part from now on.
  void enter(std::uint32_t collective, std::uint32_t position, std::int64_t priority);

  void on_arrival(std::uint32_t token);
  void on_late_message(std::uint32_t chunk) { on_message(chunk); }
  void on_packet(std::uint32_t chunk, Tick reduction);
  // The chunk's phase, a graph, is done.
  void finish_phase(std::uint32_t chunk);

  [[nodiscard]] const std::vector<ChunkState>& chunks() const { return chunks_; }
  [[nodiscard]] const OpenCollective& collective(std::uint32_t index) const { return open_[index]; }
  [[nodiscard]] const ChunkPhase& phase_of(const ChunkState& chunk) const {
    return open_[chunk.collective].plan->phases[chunk.phase];
  }
  void reset();

 private:
  struct alignas(32) InFlight {  // never in two cache lines
    std::uint32_t to_chunk = 0;            // or the next free record
    std::uint32_t sender = 0;              // as the receiver knows it
    std::uint32_t control_for = kNoChunk;  // a control message: the chunk that waits for the data
    std::int64_t bytes = 0;
  };
  // With the rendezvous protocol: what a chunk would send to a position, and the control messages it has from there.
  struct Rendezvous {
    std::uint32_t controls = 0;
    std::vector<std::int64_t> wanted = {};
  };

  // --- chunk_streams.cc: queues, phases ---
  void start(std::uint32_t chunk);
  void start_next(std::uint32_t rank, std::uint16_t queue);
  [[nodiscard]] std::uint32_t chunk_at(const ChunkState& like, std::uint32_t position) const;
  void begin_phase(std::uint32_t chunk);

  // --- chunk_messages.cc: sending and receiving ---
  void send(std::uint32_t chunk, const PhasePeers& peers, std::int64_t bytes);
  void send_later(std::uint32_t from_chunk, std::uint32_t to, const InFlight& what);
  void receive(std::uint32_t chunk, std::uint32_t from);
  void wait(std::uint32_t chunk, std::uint32_t from);
  void on_control(const InFlight& control);
  void on_message(std::uint32_t chunk);

  // --- chunk_phases.cc: what a chunk does next ---
  void add_packet(std::uint32_t chunk, const Packet& packet);
  void add_window_packet(std::uint32_t chunk);
  void advance_window(std::uint32_t chunk);
  void advance_tree(std::uint32_t chunk);
  void start_tree(std::uint32_t chunk);
  [[nodiscard]] TreeRole role_of(const ChunkState& chunk) const;
  [[nodiscard]] bool is_tree_leaf(const ChunkState& chunk) const;

  StreamRules rules_;
  Surroundings around_;
  ChunkQueues queues_;
  std::vector<OpenCollective> open_;
  std::vector<std::uint32_t> free_open_;
  std::vector<ChunkState> chunks_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> free_blocks_;  // first chunks, by size
  std::vector<std::vector<ChunkQueues::Turn>> turns_;  // by chunk and phase; empty where a dimension has one queue
  std::vector<InFlight> messages_;
  std::uint32_t free_message_ = kNoChunk;
  MessageCounts counts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Rendezvous> rendezvous_;  // by chunk and position
};

}  // namespace ringwright
