// P2p: all-to-all as NCCL's sends and receives, one peer after another in rotating order on each group of channels.
//
// In round t each member sends to the peer t positions ahead (outer loop over hosts, inner loop over positions in the
// host, so that all talk to hosts at one distance) and receives from the peer t positions behind. Rounds are
// distributed over groups of channels; the channels of a group cut every message identically. Sending and receiving
// warps work concurrently. (NCCL 2.19 to 2.27, src/enqueue.cc, src/include/scheduler of p2p rounds,
// src/device/sendrecv.h.) Chunks: 512 KiB inside a host, 128 KiB between hosts, or the plan's; never more than a slot,
// and less between hosts for small messages. A member's copy to itself is left out: it ends before the first message
// arrives.
#include <algorithm>
#include <bit>

#include "collectives/builtin_channels.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/shapes/cut.h"
#include "core/base/index.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_p2p();

namespace {

using namespace ringwright::literals;

struct ExchangePlay {
  ExchangePlay(const CollectiveCall& of, const CollectivePlan& plan)
      : layout(*of.layout),
        size(of.size()),
        per_host(layout.even() && in_blocks() ? layout.largest_host : size),
        largest(Cut(of.bytes, size).size(0)),
        side_by_side(channels_per_peer(plan)),
        groups(std::clamp(plan.channels / side_by_side, 1, std::max(size - 1, 1))),
        cells(largest, {.channels = side_by_side, .kinds = 1}),
        fine_chunk(layout.host_count() == 1 ? chunk(plan, 128_KiB) : network_chunk(chunk(plan, 128_KiB), largest)),
        coarse_chunk(per_host < size || layout.host_count() == 1 ? whole_chunks(chunk(plan, 512_KiB)) : fine_chunk),
        fine(cells.cell(), {.parts = 1, .chunk = fine_chunk}),
        coarse(cells.cell(), {.parts = 1, .chunk = coarse_chunk}) {}

  [[nodiscard]] int channels_per_peer(const CollectivePlan& plan) const {
    if (plan.message_channels > 0) return std::min(plan.message_channels, plan.channels);
    const auto fitting = static_cast<unsigned>(std::max(plan.channels / size, 1));
    return std::max(static_cast<int>(std::bit_floor(fitting)), std::min(plan.channels, 2));
  }
  [[nodiscard]] static Bytes chunk(const CollectivePlan& plan, Bytes usual) {
    if (plan.chunk > Bytes(0)) return align_up(plan.chunk);
    return std::min(usual, slot_data(plan));
  }
  // Coarse chunks hold whole fine ones.
  [[nodiscard]] Bytes whole_chunks(Bytes coarse) const {
    return fine_chunk * ceil_div(coarse.count(), fine_chunk.count());
  }
  // Members of a host have consecutive numbers, so that host and position follow from a member's number.
  [[nodiscard]] bool in_blocks() const {
    for (int i = 1; i < layout.size(); ++i) {
      if (layout.host_of[at(i)] < layout.host_of[at(i - 1)]) return false;
    }
    return true;
  }

  // Round t = 1 .. size - 1; `sign` 1: whom a member sends to, -1: from whom it receives.
  [[nodiscard]] int peer(int member, int round, int sign) const {
    const int hosts = size / per_host;
    const int host = (member / per_host + sign * (round / per_host) + hosts) % hosts;
    const int place = (member % per_host + sign * (round % per_host) + per_host) % per_host;
    return host * per_host + place;
  }
  [[nodiscard]] int rounds(int group) const { return (size - 1 - group + groups - 1) / groups; }
  [[nodiscard]] int round(int group, int number) const { return 1 + group + number * groups; }
  [[nodiscard]] const ChunkLoops& loops(int at_round) const { return at_round < per_host ? coarse : fine; }

  struct SliceIndex {
    int number = 0;  // of the group's rounds
    std::int64_t chunk = 0;
  };
  [[nodiscard]] SliceIndex place(int group, std::int64_t index) const {
    // Rounds inside the host are first.
    const int inside = std::clamp((per_host - 1 - group + groups - 1) / groups, 0, rounds(group));
    const std::int64_t coarse_chunks = coarse.loops();
    if (index < inside * coarse_chunks) {
      return {.number = static_cast<int>(index / coarse_chunks), .chunk = index % coarse_chunks};
    }
    const std::int64_t rest = index - inside * coarse_chunks;
    return {.number = inside + static_cast<int>(rest / fine.loops()), .chunk = rest % fine.loops()};
  }
  [[nodiscard]] std::int64_t primitives(int group) const {
    std::int64_t sum = 0;
    for (int number = 0; number < rounds(group); ++number) sum += loops(round(group, number)).loops();
    return sum;
  }
  // The finest chunks are the pieces of the proof; a coarse chunk holds several.
  [[nodiscard]] int pieces_per_message() const { return static_cast<int>(fine.loops()); }

  const GroupLayout& layout;
  int size;
  int per_host;
  Bytes largest;
  int side_by_side;
  int groups;
  ChannelCells cells;
  Bytes fine_chunk;
  Bytes coarse_chunk;  // inside a host; with uneven hosts as fine as between hosts
  ChunkLoops fine;
  ChunkLoops coarse;
};

class P2p final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "p2p"; }
  [[nodiscard]] std::string_view help() const override {
    return "sends and receives between all pairs, peer by peer in rotating order (NCCL's p2p)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan&) const override {
    return call.kind == CollectiveKind::kAllToAll;
  }
  // Blocks are paired: 2 g sends, 2 g + 1 receives.
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.size() == 1 ? 0 : 2 * ExchangePlay(call, plan).groups;
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall&, const CollectivePlan&, int, int) const override { return 1; }

  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.size() * call.size() * ExchangePlay(call, plan).pieces_per_message();
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const ExchangePlay play(call, plan);
    const int per_message = play.pieces_per_message();
    const Bytes message = Cut(call.bytes, play.size).size(piece / per_message % play.size);
    return play.cells.inside(message, 0, play.fine.slice(play.fine.slice_at(piece % per_message), 0));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;
};

void P2p::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, ThreadBlock& out) const {
  const ExchangePlay play(call, plan);
  const int group = block / 2;
  const bool sends = block % 2 == 0;
  out.clear();
  out.channel = group;
  out.copies = play.cells.channels();
  out.thread_share = 0.5;
  out.primitives = play.primitives(group);
  for (int number = 0; number < play.rounds(group); ++number) {
    const int round = play.round(group, number);
    if (sends) {
      const int peer = play.peer(member, round, 1);
      out.sends.push_back({.peer = peer, .route_kind = message_route_kind(play.layout, plan, member, peer)});
    } else {
      out.receives.push_back({.peer = play.peer(member, round, -1), .block = block - 1, .port = number});
    }
  }
}

void P2p::primitive(const CollectiveCall& call, const CollectivePlan& plan, int, int block, std::int64_t index,
                    Primitive& out) const {
  const ExchangePlay play(call, plan);
  const int group = block / 2;
  const ExchangePlay::SliceIndex place = play.place(group, index);
  const ChunkLoops& loops = play.loops(play.round(group, place.number));
  out.clear();
  out.size = loops.slice_size(loops.slice_at(place.chunk));
  const bool sends = block % 2 == 0;
  (sends ? out.sends : out.receives) = {.first = place.number, .count = 1};
  out.reads = sends;
  out.stores = !sends;
}

void P2p::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                   PrimitiveContents& out) const {
  const ExchangePlay play(call, plan);
  const int group = block / 2;
  const bool sends = block % 2 == 0;
  const ExchangePlay::SliceIndex place = play.place(group, index);
  const int round = play.round(group, place.number);
  const int other = play.peer(member, round, sends ? 1 : -1);
  const int message = sends ? member * play.size + other : other * play.size + member;
  const int per_message = play.pieces_per_message();
  const bool coarse = round < play.per_host;
  const int in_chunk = coarse ? static_cast<int>(play.coarse_chunk.count() / play.fine_chunk.count()) : 1;
  out.clear();
  std::vector<int>& cells = sends ? out.reads : out.stores;
  const int first = static_cast<int>(place.chunk) * in_chunk;
  for (int piece = first; piece < std::min(first + in_chunk, per_message); ++piece) {
    cells.push_back(message * per_message + piece);
  }
}

}  // namespace

const ChannelAlgorithm& channel_p2p() {
  static const P2p kP2p;
  return kP2p;
}

}  // namespace ringwright::collectives
