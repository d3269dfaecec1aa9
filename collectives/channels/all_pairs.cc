// All pairs: for all-reduce inside a host, every member sends each other member its part of the buffer, reduces its own
// part, and sends the result to all.
//
// Two crossings instead of a ring's 2 (n - 1), for twice (n - 1)/n of the buffer out of every member: RCCL's choice for
// small buffers on hosts with fully connected GPUs (msccl-algorithms, allreduce-allpairs-8n). There every channel has a
// thread block for each peer; here each of those blocks is a channel with its own cell of the buffer.
#include <algorithm>

#include "collectives/builtin_channels.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_all_pairs();

namespace {

enum AllPairsRole { kAllPairsScatter, kAllPairsReduce, kAllPairsGather };
constexpr int kRoles = 3;

// Channels of one kind start with the same peer; different kinds use different peers, so all outgoing links are busy.
struct PairsPlay {
  PairsPlay(const CollectiveCall& of, const CollectivePlan& plan)
      : size(of.size()),
        cells(of.bytes, {.channels = plan.channels, .kinds = std::max(size - 1, 1)}),
        loops(cells.cell(), {.parts = size, .chunk = slot_data(plan)}) {}

  [[nodiscard]] std::int64_t loop_of(std::int64_t index) const { return index / (size - 1); }
  [[nodiscard]] int port_of(std::int64_t index) const { return static_cast<int>(index % (size - 1)); }
  // Distance to the peer at a port: forward for a sender, backward for a receiver.
  [[nodiscard]] int distance(int kind, int port) const { return (port + kind) % (size - 1) + 1; }
  [[nodiscard]] int piece(int kind, std::int64_t loop, int part) const {
    return static_cast<int>(kind * loops.loops() + loop) * size + wrap(part, size);
  }

  int size;
  ChannelCells cells;
  ChunkLoops loops;
};

class AllPairs final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_pairs"; }
  [[nodiscard]] std::string_view help() const override {
    return "every member reduces its own part and sends it to all, all peers at once (RCCL's all pairs)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan&) const override {
    return call.kind == CollectiveKind::kAllReduce && call.layout->host_count() == 1;
  }
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.size() == 1 ? 0 : PairsPlay(call, plan).cells.kinds() * kRoles;
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall&, const CollectivePlan&, int, int block) const override {
    return static_cast<std::uint64_t>(block % kRoles) + 1;
  }
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const PairsPlay play(call, plan);
    return play.cells.kinds() * static_cast<int>(play.loops.loops()) * play.size;
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const PairsPlay play(call, plan);
    const int loops = static_cast<int>(play.loops.loops());
    const ChunkLoops::SliceIndex place = play.loops.slice_at(piece / play.size % loops);
    return play.cells.inside(call.bytes, piece / play.size / loops, play.loops.slice(place, piece % play.size));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;
};

void AllPairs::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                     ThreadBlock& out) const {
  const PairsPlay play(call, plan);
  const int kind = block / kRoles;
  const int role = block % kRoles;
  out.clear();
  out.copies = play.cells.copies(kind);
  out.primitives = play.loops.loops() * (role == kAllPairsReduce ? 1 : play.size - 1);
  for (int port = 0; port < play.size - 1; ++port) {
    const int ahead = wrap(member + play.distance(kind, port), play.size);
    const int behind = wrap(member - play.distance(kind, port), play.size);
    if (role != kAllPairsGather) out.sends.push_back({.peer = ahead});
    if (role != kAllPairsScatter) {
      out.receives.push_back({.peer = behind, .block = block - 1, .port = port});  // scatter, reduce, gather in turn
    }
  }
}

void AllPairs::primitive(const CollectiveCall& call, const CollectivePlan& plan, int, int block, std::int64_t index,
                         Primitive& out) const {
  const PairsPlay play(call, plan);
  const int role = block % kRoles;
  out.clear();
  if (role == kAllPairsReduce) {
    out.size = play.loops.slice_size(play.loops.slice_at(index));
    out.receives = out.sends = {.first = 0, .count = play.size - 1};
    out.reads = out.adds = out.stores = true;
    return;
  }
  const int port = play.port_of(index);
  out.size = play.loops.slice_size(play.loops.slice_at(play.loop_of(index)));
  out.continues = port > 0;
  (role == kAllPairsScatter ? out.sends : out.receives) = {.first = port, .count = 1};
  out.reads = role == kAllPairsScatter;
  out.stores = role == kAllPairsGather;
}

void AllPairs::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                        std::int64_t index, PrimitiveContents& out) const {
  const PairsPlay play(call, plan);
  const int kind = block / kRoles;
  const int role = block % kRoles;
  out.clear();
  if (role == kAllPairsReduce) {
    out.reads = out.stores = {play.piece(kind, index, member)};
    return;
  }
  const int distance = play.distance(kind, play.port_of(index));
  const std::int64_t loop = play.loop_of(index);
  if (role == kAllPairsScatter) out.reads = {play.piece(kind, loop, member + distance)};
  if (role == kAllPairsGather) out.stores = {play.piece(kind, loop, member - distance)};
}

}  // namespace

const ChannelAlgorithm& channel_all_pairs() {
  static const AllPairs kAllPairs;
  return kAllPairs;
}

}  // namespace ringwright::collectives
