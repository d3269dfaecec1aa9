// What a chunk does next in a phase: messages in a window, or up and down a tree.
#include <algorithm>
#include <utility>

#include "core/run/astra/chunk_streams.h"

namespace ringwright {
namespace {

constexpr Tick kFixedDelay = 10;       // of packets in communicator groups
constexpr double kMemoryGap = 0.0038;  // ns per byte between the bus and memory
constexpr Tick kReductionStart = 50;

std::uint32_t index_in(const ChunkPhase& phase, std::uint32_t position) {
  return position / phase.stride % phase.nodes;
}

std::uint32_t moved_to(const ChunkPhase& phase, std::uint32_t position, std::uint32_t index) {
  return position + (index - index_in(phase, position)) * phase.stride;
}

}  // namespace

// Over the bus once, or there and back. Memory is read for what leaves it, written by what comes, and a reduction reads
// and writes it once more, and computes.
Tick SharedBus::delay(const Packet& packet) const {
  const auto transfer = [&](double per_byte) {
    return whole_ticks(2.0 * overhead + latency + static_cast<double>(packet.bytes - 1) * per_byte);
  };
  const Tick pass = transfer(gap_per_byte);
  const Tick memory = transfer(kMemoryGap);
  Tick total = later(pass, memory);
  if (packet.role == PacketRole::kOut) return total;
  if (packet.reduced) {
    const auto hundreds = packet.bytes / 100;  // begun ones do not count
    total = later(later(total, memory), later(memory, kReductionStart));
    total = later(total, whole_ticks(static_cast<double>(hundreds) * static_cast<double>(reduction_per_100_bytes)));
  }
  if (packet.role == PacketRole::kThrough) total = later(total, later(pass, memory));
  return total;
}

Packet packet_at(const ChunkPhase& phase, std::uint32_t packet) {
  if (phase.packet_period > 0) packet %= phase.packet_period;
  for (const PacketRun& run : phase.packets) {
    if (packet < run.count) return run.each;
    packet -= run.count;
  }
  return {};
}

EndpointTime endpoint_time(const StreamRules& rules, const ChunkedCollective& plan, const Packet& packet) {
  const bool configured = plan.pays_endpoint_delay;
  EndpointTime time{.delay = configured ? rules.endpoint_delay : kFixedDelay};
  if (configured && rules.bus) time.delay = rules.bus->delay(packet);
  // Written, and read twice: each pass rounded down.
  if (packet.reduced)
    time.reduction =
        3 * std::min(whole_ticks(static_cast<double>(packet.bytes) / rules.local_bytes_per_ns), kLastTick / 3);
  return time;
}

PhasePeers peers_in(const ChunkPhase& phase, std::uint32_t position, const MessageStep& step) {
  const std::uint32_t index = index_in(phase, position);
  if (step.rule == PeerRule::kXor) {
    const std::uint32_t peer = moved_to(phase, position, index ^ step.distance);
    return {.to = peer, .from = peer};
  }
  std::uint32_t ahead = index + step.distance;
  if (ahead >= phase.nodes) ahead -= phase.nodes;
  std::uint32_t behind = index + phase.nodes - step.distance;
  if (behind >= phase.nodes) behind -= phase.nodes;
  return {.to = moved_to(phase, position, ahead), .from = moved_to(phase, position, behind)};
}

void ChunkStreams::add_packet(std::uint32_t chunk, const Packet& packet) {
  const ChunkState& state = chunks_[chunk];
  const EndpointTime time = endpoint_time(rules_, *open_[state.collective].plan, packet);
  around_.events.after(state.rank, time.delay,
                       {.kind = RankEventKind::kPacket, .index = chunk, .extra = packet.reduced ? time.reduction : -1});
}

void ChunkStreams::on_packet(std::uint32_t chunk, Tick reduction) {
  if (reduction >= 0) {
    around_.events.after(chunks_[chunk].rank, reduction, {.kind = RankEventKind::kPacket, .index = chunk, .extra = -1});
    return;
  }
  ++chunks_[chunk].completed;
  if (phase_of(chunks_[chunk]).shape == PhaseShape::kTree) {
    advance_tree(chunk);
  } else {
    advance_window(chunk);
  }
}

void ChunkStreams::on_message(std::uint32_t chunk) {
  ChunkState& state = chunks_[chunk];
  ++state.received;
  const ChunkPhase& phase = phase_of(state);
  if (phase.shape == PhaseShape::kTree) {
    // ASTRA-sim reduces what comes down to an inner node as well.
    const bool is_leaf = state.tree == TreeStage::kFalling && is_tree_leaf(state);
    add_packet(chunk, {.bytes = phase.bytes, .role = PacketRole::kIn, .reduced = !is_leaf});
  } else {
    add_window_packet(chunk);
  }
}

void ChunkStreams::add_window_packet(std::uint32_t chunk) {
  add_packet(chunk, packet_at(phase_of(chunks_[chunk]), chunks_[chunk].packets++));
}

// A handled packet lets one message go; behind a gate, all that are let go wait until the gate opens.
void ChunkStreams::advance_window(std::uint32_t chunk) {
  const ChunkState& before = chunks_[chunk];
  const ChunkPhase& phase = phase_of(before);
  const bool gated = phase.gate > 0 && before.sent >= phase.gate;
  if (gated && before.received < phase.gate) return;
  for (std::uint32_t tries = gated ? phase.window : 1; tries > 0; --tries) {
    ChunkState& state = chunks_[chunk];
    if (state.sent == phase.messages || state.sent == state.completed) break;
    const MessageStep& step = phase.step(state.sent);
    PhasePeers peers = peers_in(phase, state.position, step);
    if (state.reversed && step.rule == PeerRule::kShift) std::swap(peers.to, peers.from);
    ++state.sent;
    send(chunk, peers, step.bytes);
    receive(chunk, peers.from);
  }
  if (before.sent == phase.messages && before.completed == phase.messages + phase.window) finish_phase(chunk);
}

TreeRole ChunkStreams::role_of(const ChunkState& chunk) const {
  const ChunkPhase& phase = phase_of(chunk);
  const OpenCollective& open = open_[chunk.collective];
  const auto self = static_cast<std::uint32_t>(&chunk - chunks_.data());
  const bool second = (self - open.first_chunk) % open.plan->chunks % 2 == 1;
  TreeRole role = (second ? phase.second_roles : phase.roles)[index_in(phase, chunk.position)];
  for (std::uint32_t* relative : {&role.parent, &role.left, &role.right}) {
    if (*relative != kNoPosition) *relative = moved_to(phase, chunk.position, *relative);
  }
  return role;
}

bool ChunkStreams::is_tree_leaf(const ChunkState& chunk) const {
  const TreeRole role = role_of(chunk);
  return role.left == kNoPosition && role.right == kNoPosition;
}

void ChunkStreams::start_tree(std::uint32_t chunk) {
  const TreeRole role = role_of(chunks_[chunk]);
  if (is_tree_leaf(chunks_[chunk])) {
    add_packet(chunk, {.bytes = phase_of(chunks_[chunk]).bytes});
    return;
  }
  if (role.left != kNoPosition) receive(chunk, role.left);
  if (role.right != kNoPosition) receive(chunk, role.right);
}

void ChunkStreams::advance_tree(std::uint32_t chunk) {
  ChunkState& state = chunks_[chunk];
  const std::int64_t bytes = phase_of(state).bytes;
  const TreeRole role = role_of(state);
  const std::uint32_t children = (role.left != kNoPosition ? 1U : 0U) + (role.right != kNoPosition ? 1U : 0U);
  const bool is_leaf = children == 0;
  if (state.tree == TreeStage::kRising) {
    if (!is_leaf && state.completed < children) return;
    if (role.parent != kNoPosition) {
      state.tree = TreeStage::kFalling;
      send(chunk, {.to = role.parent, .from = role.parent}, bytes);
      receive(chunk, role.parent);
      return;
    }
  }
  state.tree = TreeStage::kDone;
  if (role.left != kNoPosition) send(chunk, {.to = role.left, .from = role.left}, bytes);
  if (role.right != kNoPosition) send(chunk, {.to = role.right, .from = role.right}, bytes);
  finish_phase(chunk);
}

}  // namespace ringwright
