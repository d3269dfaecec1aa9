// Ring: on every channel each member passes slices on to the next member in that channel's ring order.
//
// All-reduce takes 2 n - 1 primitives for each slice of a loop: send, n - 2 recv-reduce-send, one
// recv-reduce-copy-send, n - 2 recv-copy-send, recv; chunk (q - 1 - k) mod n at step k of position q. All-gather and
// reduce-scatter take n; broadcast and reduce are chains that the slices of one slot run down. (NCCL 2.19 to 2.27,
// src/device/{all_reduce,all_gather,reduce_scatter,broadcast,reduce}.h; Simple: chunks of 4 slots in slices of 2 for
// the first three.)
#include "collectives/builtin_channels.h"
#include "collectives/channels/block_parts.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/shapes/channel_ring.h"
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_ring();

namespace {

constexpr int kChunkSlots = 4;  // of Simple, for the kinds that traverse the whole ring
constexpr int kSliceSlots = 2;
constexpr std::int64_t kSliceShrink = 32;  // no slice is below 1/32 of a full one, unless the chunk is

bool is_chain(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
}
bool is_shared_out(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
}
bool is_sliced(const CollectiveCall& call, const CollectivePlan& plan) {
  return plan.protocol == Protocol::kSimple && !is_chain(call.kind);
}

ChunkLoops::Shape loop_shape(const CollectiveCall& call, const CollectivePlan& plan) {
  const Bytes slot = slot_data(plan);
  const int parts = call.kind == CollectiveKind::kAllReduce ? call.size() : 1;
  if (!is_sliced(call, plan)) return {.parts = parts, .chunk = slot};
  return {.parts = parts,
          .chunk = slot * kChunkSlots,
          .slices = kChunkSlots / kSliceSlots,
          .least_slice = align_up(slot * kSliceSlots / kSliceShrink)};
}

// Everything that follows from the call and its plan.
struct RingPlay {
  RingPlay(const CollectiveCall& of, const CollectivePlan& with)
      : call(of),
        plan(with),
        size(of.size()),
        whole(is_shared_out(of.kind) ? Cut(of.bytes, size).size(0) : of.bytes),
        cells(whole, {.channels = plan.channels,
                      .kinds = ring_kinds(*of.layout, plan),
                      .least = ragged_cell(whole, plan, loop_shape(of, plan))}),
        loops(cells.cell(), loop_shape(of, plan)),
        slots(is_sliced(of, plan) ? kSliceSlots : 1),
        steps(of.kind == CollectiveKind::kAllReduce ? 2 * size - 1 : (is_chain(of.kind) ? 1 : size)) {}

  [[nodiscard]] ChannelRing ring(int block) const {
    return {*call.layout, {.number = block, .of = cells.kinds(), .plan = &plan}};
  }
  // In a chain: number of members before it.
  [[nodiscard]] int rank_in_chain(const ChannelRing& order, int member) const {
    const int from_root = wrap(order.position_of(member) - order.position_of(call.root), size);
    return call.kind == CollectiveKind::kBroadcast ? from_root : wrap(from_root - 1, size);
  }

  const CollectiveCall& call;
  const CollectivePlan& plan;
  int size;
  Bytes whole;  // what the channels share: the buffer, or the largest member's part of it
  ChannelCells cells;
  ChunkLoops loops;
  int slots;
  int steps;  // primitives for each slice of a loop
};

class RingChannels final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring"; }
  [[nodiscard]] std::string_view help() const override {
    return "slices travel around a ring on every channel (NCCL's ring)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan&) const override {
    return call.kind != CollectiveKind::kAllToAll;
  }

  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.size() == 1 ? 0 : RingPlay(call, plan).cells.kinds();
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall& call, const CollectivePlan& plan, int member,
                                    int block) const override;
  void parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const override;

  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const RingPlay play(call, plan);
    const int parts = is_chain(call.kind) ? 1 : call.size();
    return static_cast<int>(play.loops.slices_in_all()) * play.cells.kinds() * parts;
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override;
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;
};

void RingChannels::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                         ThreadBlock& out) const {
  const RingPlay play(call, plan);
  const ChannelRing order = play.ring(block);
  const int position = order.position_of(member);
  out.clear();
  out.channel = block;
  out.copies = play.cells.copies(block);
  out.slots_per_message = play.slots;
  out.primitives = play.loops.primitives(play.steps);
  const int rank = is_chain(call.kind) ? play.rank_in_chain(order, member) : -1;
  if (rank != 0) out.receives.push_back({.peer = order.member_at(position - 1), .block = block, .port = 0});
  if (rank == play.size - 1) return;
  const int next = order.member_at(position + 1);
  out.sends.push_back({.peer = next, .nics = nics_between(*call.layout, plan, block, member, next)});
}

void RingChannels::primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                             std::int64_t index, Primitive& out) const {
  const RingPlay play(call, plan);
  const ChunkLoops::SliceIndex place = play.loops.place(index, play.steps);
  out.clear();
  out.size = play.loops.slice_size(place);
  out.continues = place.slice > 0 && out.size == Bytes(0);  // an empty slice: only counters advance
  // Each member of a chain performs one step of the ring for every slice.
  const int step = is_chain(call.kind) ? play.rank_in_chain(play.ring(block), member) : place.step;
  const int last = is_chain(call.kind) ? play.size - 1 : play.steps - 1;
  out.receives.count = step > 0 ? 1 : 0;
  out.sends.count = step < last ? 1 : 0;
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
      out.reads = step < play.size;
      out.stores = step >= play.size - 1;
      break;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce:
      out.reads = true;
      out.stores = step == last;
      break;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kAllToAll:
      out.reads = step == 0;
      out.stores = step > 0;
      break;
  }
  out.adds = out.reads && step > 0;
}

std::uint64_t RingChannels::shape(const CollectiveCall& call, const CollectivePlan& plan, int member, int block) const {
  if (!is_chain(call.kind)) return 1;
  const RingPlay play(call, plan);
  const int rank = play.rank_in_chain(play.ring(block), member);
  return rank == 0 ? 2 : (rank == play.size - 1 ? 3 : 4);
}

// By the member's distance from its host's entry.
void RingChannels::parts(const CollectiveCall& call, const CollectivePlan& plan, int member,
                         std::vector<int>& out) const {
  const RingPlay play(call, plan);
  std::vector<int> behind;
  for (int block = 0; block < play.cells.kinds(); ++block) {
    const ChannelRing order = play.ring(block);
    behind.push_back(order.position_of(member) -
                     order.first_position(call.layout->host_of[static_cast<std::size_t>(member)]));
  }
  parts_by_key(behind, out);
}

// Pieces of a kind with owners are ordered owner by owner, else slice by slice.
Bytes RingChannels::piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const {
  const RingPlay play(call, plan);
  const int slices = static_cast<int>(play.loops.slices_in_all());
  if (is_shared_out(call.kind)) {
    const int owner = piece / (slices * play.cells.kinds());
    const int rest = piece % (slices * play.cells.kinds());
    return play.cells.inside(Cut(call.bytes, play.size).size(owner), rest / slices,
                             play.loops.slice(play.loops.slice_at(rest % slices), 0));
  }
  const int parts = call.kind == CollectiveKind::kAllReduce ? play.size : 1;
  const int slice = piece / parts % slices;
  return play.cells.inside(call.bytes, piece / parts / slices,
                           play.loops.slice(play.loops.slice_at(slice), piece % parts));
}

void RingChannels::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                            std::int64_t index, PrimitiveContents& out) const {
  const RingPlay play(call, plan);
  const ChannelRing order = play.ring(block);
  const ChunkLoops::SliceIndex place = play.loops.place(index, play.steps);
  const int slices = static_cast<int>(play.loops.slices_in_all());
  const int slice = block * slices + static_cast<int>(play.loops.slice_number(place));
  const int position = order.position_of(member);
  int piece = slice;
  if (call.kind == CollectiveKind::kAllReduce) piece = slice * play.size + wrap(position - 1 - place.step, play.size);
  if (is_shared_out(call.kind)) {
    const int lead = call.kind == CollectiveKind::kReduceScatter ? 1 : 0;
    piece = order.member_at(position - lead - place.step) * slices * play.cells.kinds() + slice;
  }
  Primitive doing;
  primitive(call, plan, member, block, index, doing);
  out.clear();
  if (doing.reads) out.reads.push_back(piece);
  if (doing.stores) out.stores.push_back(piece);
}

}  // namespace

const ChannelAlgorithm& channel_ring() {
  static const RingChannels kRing;
  return kRing;
}

}  // namespace ringwright::collectives
