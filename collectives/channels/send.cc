// Send: one message between two ranks as ncclSend and ncclRecv move it, chunk by chunk on a few channels.
//
// Modelled as a broadcast among two members. A channel's warps are split evenly between sends and receives, which are
// grouped. (NCCL 2.19 to 2.27, src/device/sendrecv.h; chunks and channels: src/enqueue.cc.)
#include "collectives/builtin_channels.h"
#include "collectives/channels/channel_cut.h"

namespace ringwright::collectives {
namespace {

// Ten of a block's twenty warps; a channel's rate refers to sixteen.
constexpr double kShareOfThreads = 10.0 / 16.0;

struct SendPlay {
  SendPlay(const CollectiveCall& of, const CollectivePlan& plan)
      : cells(of.bytes, {.channels = plan.channels, .kinds = 1}),
        loops(cells.cell(), {.parts = 1, .chunk = slot_data(plan)}) {}

  ChannelCells cells;
  ChunkLoops loops;
};

class Send final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "send"; }
  [[nodiscard]] std::string_view help() const override {
    return "one message, chunk by chunk (NCCL's send and receive)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan&) const override {
    return call.kind == CollectiveKind::kBroadcast && call.size() == 2;
  }
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return 1; }

  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int, ThreadBlock& out) const override {
    const SendPlay play(call, plan);
    out.clear();
    out.copies = play.cells.channels();
    out.thread_share = kShareOfThreads;
    out.primitives = play.loops.slices_in_all();
    if (member == call.root)
      out.sends.push_back({.peer = 1 - member, .route_kind = plan.pxn ? RouteKind::kPxn : RouteKind::kWhole});
    if (member != call.root) out.receives.push_back({.peer = 1 - member, .block = 0, .port = 0});
  }

  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int, std::int64_t index,
                 Primitive& out) const override {
    const SendPlay play(call, plan);
    out.clear();
    out.size = play.loops.slice_size(play.loops.slice_at(index));
    const bool sends = member == call.root;
    (sends ? out.sends : out.receives).count = 1;
    out.reads = sends;
    out.stores = !sends;
  }

  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return static_cast<int>(SendPlay(call, plan).loops.slices_in_all());
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const SendPlay play(call, plan);
    return play.cells.inside(call.bytes, 0, play.loops.slice(play.loops.slice_at(piece), 0));
  }
  void contents(const CollectiveCall& call, const CollectivePlan&, int member, int, std::int64_t index,
                PrimitiveContents& out) const override {
    out.clear();
    (member == call.root ? out.reads : out.stores).push_back(static_cast<int>(index));
  }
};

}  // namespace

const ChannelAlgorithm& channel_send() {
  static const Send kSend;
  return kSend;
}

}  // namespace ringwright::collectives
