// PAT: parallel aggregated trees for all-gather and reduce-scatter, one binomial tree rooted at every member.
//
// In step k of log2 n, distances halve: a member sends its data to the member 2^k positions ahead. All trees run
// concurrently and their messages of one step travel as one aggregate, cut to the slots' size (NCCL 2.23 and later,
// src/device/{all_gather,reduce_scatter}.h, PatAGAlgorithm; K. Jeaugey, "PAT: a new algorithm for all-gather and
// reduce-scatter operations at scale", arXiv 2506.20252). Reduce-scatter runs the same steps backwards.
#include <algorithm>
#include <bit>

#include "collectives/builtin_channels.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_pat();

namespace {

using namespace ringwright::literals;

// A slot, halved while the buffer gives all channels fewer loops than that (calcCollChunking of src/enqueue.cc, 2.23
// and later).
Bytes pat_chunk(const CollectiveCall& call, const CollectivePlan& plan) {
  constexpr Bytes kLeast = 64_KiB;
  const int loops = call.kind == CollectiveKind::kAllGather ? 32 : 16;
  Bytes chunk = slot_data(plan);
  while (chunk * plan.channels * loops > call.bytes && chunk > kLeast) chunk = align_up(chunk / 2);
  return chunk;
}

struct PatPlay {
  PatPlay(const CollectiveCall& of, const CollectivePlan& plan)
      : call(of),
        size(of.size()),
        levels(static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(size - 1, 0))))),
        whole(Cut(of.bytes, size).size(0)),
        cells(whole, {.channels = plan.channels, .kinds = 1}),
        loops(cells.cell(), {.parts = 1, .chunk = pat_chunk(of, plan)}),
        at_once(static_cast<int>(
            std::max<std::int64_t>(pat_chunk(of, plan).count() / loops.slice_size(loops.slice_at(0)).count(), 1))) {}

  // Steps of the gathering order: step 0 has the longest distance. Reduce-scatter runs them from the end.
  [[nodiscard]] int distance(int step) const { return 1 << (levels - 1 - step); }
  // Whether the tree of the member `offset` positions behind has reached this member when step `step` begins: offsets
  // so far are multiples of twice the distance.
  [[nodiscard]] bool reached(int offset, int step) const { return offset % (2 * distance(step)) == 0; }
  // Offsets whose data are sent in a step: those received, as long as the target is still inside the ring.
  [[nodiscard]] int sends(int step) const {
    const int stride = 2 * distance(step);
    const int room = size - 1 - distance(step);  // the farthest offset that may be passed on
    return room < 0 ? 0 : room / stride + 1;
  }
  [[nodiscard]] int offset(int step, int number) const { return number * 2 * distance(step); }
  [[nodiscard]] int messages(int step) const { return static_cast<int>(ceil_div(sends(step), at_once)); }
  [[nodiscard]] int in_message(int step, int message) const {
    return std::min(at_once, sends(step) - message * at_once);
  }

  const CollectiveCall& call;
  int size;
  int levels;
  Bytes whole;
  ChannelCells cells;
  ChunkLoops loops;
  int at_once;  // chunks in one message
};

// Blocks: 0 sends, 1 receives. The sender of a step waits until the data that it forwards have arrived.
class Pat final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pat"; }
  [[nodiscard]] std::string_view help() const override {
    return "one binomial tree per member, messages of a step aggregated (NCCL's PAT)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const bool kind = call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kReduceScatter;
    return kind && plan.protocol == Protocol::kSimple;
  }
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan&) const override {
    return call.size() == 1 ? 0 : 2;
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall&, const CollectivePlan&, int, int) const override { return 1; }
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const PatPlay play(call, plan);
    return play.size * static_cast<int>(play.loops.slices_in_all());
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const PatPlay play(call, plan);
    const int loops = static_cast<int>(play.loops.slices_in_all());
    return play.cells.inside(Cut(call.bytes, play.size).size(piece / loops), 0,
                             play.loops.slice(play.loops.slice_at(piece % loops), 0));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;

 private:
  struct Turn {
    std::int64_t loop = 0;
    int step = 0;  // of the gathering order
    int message = 0;
    std::int64_t before = 0;  // messages of the same loop up to the end of the previous step, in execution order
  };
  static Turn turn(const PatPlay& play, std::int64_t index);
  static std::int64_t per_loop(const PatPlay& play) {
    std::int64_t sum = 0;
    for (int step = 0; step < play.levels; ++step) sum += play.messages(step);
    return sum;
  }
};

Pat::Turn Pat::turn(const PatPlay& play, std::int64_t index) {
  const bool backwards = play.call.kind == CollectiveKind::kReduceScatter;
  const std::int64_t in_loop = per_loop(play);
  Turn turn{.loop = index / in_loop};
  std::int64_t rest = index % in_loop;
  for (int s = 0; s < play.levels; ++s) {
    turn.step = backwards ? play.levels - 1 - s : s;
    const int messages = play.messages(turn.step);
    if (rest < messages) break;
    rest -= messages;
    turn.before += messages;
  }
  turn.message = static_cast<int>(rest);
  return turn;
}

// Port s: the peer of step s.
void Pat::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, ThreadBlock& out) const {
  const PatPlay play(call, plan);
  const int forwards = call.kind == CollectiveKind::kAllGather ? 1 : -1;
  out.clear();
  out.copies = play.cells.channels();
  out.thread_share = 0.5;
  out.primitives = play.loops.loops() * per_loop(play);
  for (int step = 0; step < play.levels; ++step) {
    const int jump = forwards * play.distance(step);
    if (block == 0) out.sends.push_back({.peer = wrap(member + jump, play.size), .route_kind = RouteKind::kWhole});
    if (block == 1) out.receives.push_back({.peer = wrap(member - jump, play.size), .block = 0, .port = step});
  }
}

void Pat::primitive(const CollectiveCall& call, const CollectivePlan& plan, int, int block, std::int64_t index,
                    Primitive& out) const {
  const PatPlay play(call, plan);
  const Turn turn = Pat::turn(play, index);
  out.clear();
  out.size = play.loops.slice_size(play.loops.slice_at(turn.loop)) * play.in_message(turn.step, turn.message);
  const bool gathers = call.kind == CollectiveKind::kAllGather;
  if (block == 0) {
    out.sends = {.first = turn.step, .count = 1};
    out.reads = true;
    // Everything received in earlier steps of this loop.
    const std::int64_t received = turn.loop * per_loop(play) + turn.before;
    if (turn.before > 0) out.after.push_back({.block = 1, .primitive = received - 1});
    return;
  }
  out.receives = {.first = turn.step, .count = 1};
  out.reads = !gathers;
  out.adds = !gathers;
  out.stores = true;
  out.notifies = true;
}

void Pat::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                   PrimitiveContents& out) const {
  const PatPlay play(call, plan);
  const Turn turn = Pat::turn(play, index);
  const bool gathers = call.kind == CollectiveKind::kAllGather;
  const int loops = static_cast<int>(play.loops.slices_in_all());
  const int distance = play.distance(turn.step);
  out.clear();
  for (int i = 0; i < play.in_message(turn.step, turn.message); ++i) {
    // Gathering: the root `offset` positions behind the sender. Scattering: data for the root `offset` positions behind
    // the receiver, who is `distance` positions behind the sender.
    const int offset = play.offset(turn.step, turn.message * play.at_once + i);
    const bool at_far_end = (block == 0) != gathers;
    const int root = wrap(member - offset - (at_far_end ? distance : 0), play.size);
    const int piece = root * loops + static_cast<int>(turn.loop);
    if (block == 0 || !gathers) out.reads.push_back(piece);
    if (block == 1) out.stores.push_back(piece);
  }
}

}  // namespace

const ChannelAlgorithm& channel_pat() {
  static const Pat kPat;
  return kPat;
}

}  // namespace ringwright::collectives
