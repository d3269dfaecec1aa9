// CollNetDirect: the GPUs of a host scatter their data to heads, one next to each NIC; heads reduce, network switches
// reduce over hosts, and heads multicast the results.
//
// All-reduce only. A channel's warps form four groups that work concurrently: of a head's 640 threads 128 scatter to
// the other heads, 288 reduce and send to the network, 128 receive from it and broadcast, 96 gather; of other GPUs 320
// scatter and 192 gather. (NCCL 2.19 to 2.27, src/device/all_reduce.h, NCCL_ALGO_COLLNET_DIRECT; src/graph/connect.cc,
// connectCollNet.) One primitive per head; the first of a loop pays the fixed cost.
#include <algorithm>

#include "collectives/builtin_channels.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/channels/network_sum.h"
#include "core/base/index.h"

namespace ringwright::collectives {

using namespace ringwright::literals;

const ChannelAlgorithm& channel_collnet_direct();

namespace {

enum DirectRole { kDirectScatter, kDirectReduce, kDirectHandOut, kDirectGather, kDirectRoles };

struct DirectPlay {
  DirectPlay(const CollectiveCall& of, const CollectivePlan& plan)
      : layout(*of.layout),
        members(layout.largest_host),
        heads(plan.heads > 0 ? std::min(plan.heads, members) : members),
        cells(of.bytes, {.channels = plan.channels, .kinds = 1}),
        loops(cells.cell(), {.parts = heads,
                             .chunk = network_chunk(plan, {.bytes = of.bytes,
                                                           .concurrent = plan.channels * heads,
                                                           .depth = members > 1 ? 2 : 1,
                                                           .most = 512_KiB})}) {}

  [[nodiscard]] int place(int member) const { return layout.place_in_host[at(member)]; }
  [[nodiscard]] int neighbor(int member, int at_place) const {
    return layout.hosts[at(layout.host_of[at(member)])][at((at_place + members) % members)];
  }
  [[nodiscard]] int across(int member, int host) const { return layout.hosts[at(host)][at(place(member))]; }
  // Heads are spread over the host; -1: not a head.
  [[nodiscard]] int place_of_head(int head) const { return head * members / heads; }
  [[nodiscard]] int head_at(int at_place) const {
    const int wrapped = (at_place + members) % members;
    const int head = (wrapped * heads + members - 1) / members;
    return head < heads && place_of_head(head) == wrapped ? head : -1;
  }
  // Other heads among the next `distance` positions after a position of the host.
  [[nodiscard]] int heads_within(int at_place, int distance, int direction) const {
    int count = 0;
    for (int d = 1; d <= distance; ++d) count += head_at((at_place + direction * d) % members) >= 0 ? 1 : 0;
    return count;
  }
  [[nodiscard]] int others_of(int at_place) const { return heads_within(at_place, members - 1, 1); }
  // Distance to the index-th of them.
  [[nodiscard]] int distance_to(int at_place, int index, int direction) const {
    int distance = 1;
    while (heads_within(at_place, distance, direction) <= index) ++distance;
    return distance;
  }

  const GroupLayout& layout;
  int members;  // of a host
  int heads;
  ChannelCells cells;
  ChunkLoops loops;
};

double share_of(const DirectPlay& play, DirectRole role, bool head) {
  constexpr double kThreads = 640.0;
  const bool has_up = play.heads > (head ? 1 : 0);
  const bool has_down = head && play.members > 1;
  const bool both = has_up && has_down;
  const double scatter = 32 + (both ? 96 : (has_up ? 288 : 0));
  const double gather = both ? 96 : (has_up ? 192 : 0);
  const double hand_out = 32 + (both ? 96 : (has_up ? 0 : 192));
  switch (role) {
    case kDirectScatter: return scatter / kThreads;
    case kDirectGather: return gather / kThreads;
    case kDirectHandOut: return hand_out / kThreads;
    case kDirectReduce:
    case kDirectRoles: break;
  }
  return 1.0 - (scatter + gather + hand_out) / kThreads;
}

class CollnetDirect final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "collnet_direct"; }
  [[nodiscard]] std::string_view help() const override {
    return "hosts reduce at one head per NIC, network switches reduce over hosts (NCCL's CollNetDirect)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.kind == CollectiveKind::kAllReduce && plan.protocol == Protocol::kSimple && call.layout->even() &&
           call.layout->host_count() > 1;
  }
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return kDirectRoles; }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  // Ports follow the order of heads and other members, starting from the member itself.
  [[nodiscard]] std::uint64_t shape(const CollectiveCall& call, const CollectivePlan& plan, int member,
                                    int) const override {
    const DirectPlay play(call, plan);
    return play.head_at(play.place(member)) >= 0 ? 1 : 2;
  }
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const DirectPlay play(call, plan);
    return play.heads * static_cast<int>(play.loops.slices_in_all());
  }
  // Head by head.
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const DirectPlay play(call, plan);
    const int loops = static_cast<int>(play.loops.slices_in_all());
    return play.cells.inside(call.bytes, 0, play.loops.slice(play.loops.slice_at(piece % loops), piece / loops));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;

 private:
  static void add_ports_to_heads(const DirectPlay& play, int member, DirectRole role, ThreadBlock& out);
  static void add_ports_of_head(const DirectPlay& play, int member, DirectRole role, ThreadBlock& out);
};

// Port i of a scattering block: the i-th head after its member; of a gathering block: the i-th head before it. Port d
// of a head's blocks: the member d + 1 positions before it when it reduces, after it when it broadcasts.
void CollnetDirect::add_ports_to_heads(const DirectPlay& play, int member, DirectRole role, ThreadBlock& out) {
  const int place = play.place(member);
  for (int i = 0; i < play.others_of(place); ++i) {
    if (role == kDirectScatter)
      out.sends.push_back({.peer = play.neighbor(member, place + play.distance_to(place, i, 1))});
    if (role != kDirectGather) continue;
    const int back = play.distance_to(place, i, play.members - 1);
    out.receives.push_back({.peer = play.neighbor(member, place - back), .block = kDirectHandOut, .port = back - 1});
  }
}

void CollnetDirect::add_ports_of_head(const DirectPlay& play, int member, DirectRole role, ThreadBlock& out) {
  const int place = play.place(member);
  const int head = play.head_at(place);
  const int host = play.layout.host_of[at(member)];
  if (role == kDirectHandOut) {
    const int before = play.across(member, host_before(play.layout, host));
    out.receives.push_back({.peer = before, .block = kDirectReduce, .port = 0, .sum = head});
  }
  for (int d = 1; d < play.members; ++d) {
    if (role == kDirectHandOut) out.sends.push_back({.peer = play.neighbor(member, place + d)});
    if (role != kDirectReduce) continue;
    const int port = play.heads_within((place - d + play.members) % play.members, d, 1) - 1;
    out.receives.push_back({.peer = play.neighbor(member, place - d), .block = kDirectScatter, .port = port});
  }
  if (role == kDirectReduce)
    out.sends.push_back({.peer = play.across(member, next_host(play.layout, host)), .sum = head});
}

void CollnetDirect::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                          ThreadBlock& out) const {
  const DirectPlay play(call, plan);
  const auto role = static_cast<DirectRole>(block);
  const int place = play.place(member);
  const bool head = play.head_at(place) >= 0;
  out.clear();
  out.copies = play.cells.channels();
  const bool of_head = role == kDirectReduce || role == kDirectHandOut;
  if (of_head && !head) return;
  out.thread_share = share_of(play, role, head);
  out.primitives = play.loops.slices_in_all() * (of_head ? 1 : play.others_of(place));
  if (of_head) return add_ports_of_head(play, member, role, out);
  add_ports_to_heads(play, member, role, out);
}

void CollnetDirect::primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                              std::int64_t index, Primitive& out) const {
  const DirectPlay play(call, plan);
  const int others = play.others_of(play.place(member));
  const bool of_head = block == kDirectReduce || block == kDirectHandOut;
  out.clear();
  out.size = play.loops.slice_size(play.loops.slice_at(of_head ? index : index / others));
  const int port = of_head ? 0 : static_cast<int>(index % others);
  out.continues = port > 0;
  switch (static_cast<DirectRole>(block)) {
    case kDirectScatter:
      out.sends = {.first = port, .count = 1};
      out.reads = true;
      break;
    case kDirectReduce:
      out.receives.count = play.members - 1;
      out.sends.count = 1;
      out.reads = true;
      out.adds = play.members > 1;
      break;
    case kDirectHandOut:
      out.receives.count = 1;
      out.sends.count = play.members - 1;
      out.stores = true;
      break;
    case kDirectGather:
    case kDirectRoles:
      out.receives = {.first = port, .count = 1};
      out.stores = true;
      break;
  }
}

void CollnetDirect::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                             std::int64_t index, PrimitiveContents& out) const {
  const DirectPlay play(call, plan);
  const auto role = static_cast<DirectRole>(block);
  const int place = play.place(member);
  const int others = play.others_of(place);
  const bool of_head = role == kDirectReduce || role == kDirectHandOut;
  const int loops = static_cast<int>(play.loops.slices_in_all());
  int head = play.head_at(place);
  if (!of_head) {
    const int port = static_cast<int>(index % others);
    const int forward = role == kDirectScatter ? 1 : play.members - 1;
    head = play.head_at(place + forward * play.distance_to(place, port, forward) % play.members);
  }
  const int piece = head * loops + static_cast<int>(of_head ? index : index / others);
  out.clear();
  (role == kDirectScatter || role == kDirectReduce ? out.reads : out.stores).push_back(piece);
}

}  // namespace

const ChannelAlgorithm& channel_collnet_direct() {
  static const CollnetDirect kCollnetDirect;
  return kCollnetDirect;
}

}  // namespace ringwright::collectives
