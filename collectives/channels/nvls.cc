// NVLS: the NVSwitches of one host reduce and multicast (NVLink SHARP); every GPU is the head of one chunk in each
// loop, in larger domains (all-reduce only) the first 32. Over several hosts, network switches reduce the hosts' sums
// (all-reduce only).
//
// Each channel's warps form four groups that work concurrently: one scatters the GPU's data to the heads' slots, where
// the switch fetches and reduces them; one of each head reads the sum from the switch and multicasts it; one gathers
// what the heads multicast. (NCCL 2.19 to 2.27, src/device/all_reduce.h, all_gather.h and reduce_scatter.h; shares of
// warps and chunk sizes of buffers that are not registered: src/enqueue.cc.) Over hosts a head's group sends the host's
// sum to the network, and another one multicasts the result. One primitive per head; the first of a loop pays the fixed
// cost.
#include <algorithm>

#include "collectives/builtin_channels.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/channels/network_sum.h"
#include "collectives/channels/nvls_parts.h"
#include "collectives/shapes/cut.h"
#include "core/base/index.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_nvls();

namespace {

enum NvlsRole { kNvlsScatter, kNvlsReduce, kNvlsGather, kNvlsHandOut, kNvlsRoles };

struct NvlsPlay {
  NvlsPlay(const CollectiveCall& of, const CollectivePlan& plan)
      : call(of),
        over_hosts(of.layout->host_count() > 1),
        size(of.layout->largest_host),
        heads(std::min(size, kMostNvlsHeads)),
        shared(of.kind != CollectiveKind::kAllReduce),
        whole(shared ? Cut(of.bytes, of.size()).size(0) : of.bytes),
        cells(whole, {.channels = plan.channels, .kinds = 1}),
        loops(cells.cell(),
              {.parts = shared ? 1 : heads,
               .chunk = nvls_chunk(plan, {.bytes = of.bytes, .heads = heads, .hosts = 1})}) {
  }

  // Whether a role has work in this kind of call.
  [[nodiscard]] bool works(NvlsRole role) const {
    if (role == kNvlsScatter) return call.kind != CollectiveKind::kAllGather;
    if (role == kNvlsGather) return call.kind != CollectiveKind::kReduceScatter;
    return role == kNvlsReduce || over_hosts;
  }
  // Of a member on its host: also the part whose head it is, below `heads`.
  [[nodiscard]] int place(int member) const { return over_hosts ? call.layout->place_in_host[at(member)] : member; }
  [[nodiscard]] bool is_head(int member) const { return place(member) < heads; }
  [[nodiscard]] int neighbor(int member, int there) const {
    return over_hosts ? call.layout->hosts[at(call.layout->host_of[at(member)])][at(there)] : there;
  }
  [[nodiscard]] int on_host(int member, int host) const { return call.layout->hosts[at(host)][at(place(member))]; }
  // The head to which a member scatters as the d-th, and that from which it gathers as the d-th: it begins with itself.
  [[nodiscard]] int scatters_to(int from, int d) const { return (from + d) % heads; }
  [[nodiscard]] int gathers_from(int to, int d) const { return (to % heads - d + heads) % heads; }
  // The position of a head among those to which a member scatters, and of a member among those to which a head sends.
  [[nodiscard]] int port_of_head(int from, int head) const { return (head - from % heads + heads) % heads; }
  [[nodiscard]] int port_of_member(int head, int to) const { return (to - head + size) % size; }

  const CollectiveCall& call;
  bool over_hosts;
  int size;     // GPUs of a host
  int heads;    // of these
  bool shared;  // every member has its own part
  Bytes whole;
  ChannelCells cells;
  ChunkLoops loops;
};

class Nvls final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "nvls"; }
  [[nodiscard]] std::string_view help() const override {
    return "the host's NVSwitches reduce and multicast, every GPU is the head of one part (NCCL's NVLS)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const bool kind = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                      call.kind == CollectiveKind::kReduceScatter;
    if (!kind || plan.protocol != Protocol::kSimple) return false;
    if (call.layout->largest_host > kMostNvlsHeads && call.kind != CollectiveKind::kAllReduce) return false;
    if (call.layout->host_count() == 1) return true;
    return call.kind == CollectiveKind::kAllReduce && call.layout->even() && call.layout->largest_host > 1;
  }
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan&) const override {
    if (call.size() == 1) return 0;
    return call.layout->host_count() > 1 ? kNvlsRoles : kNvlsHandOut;
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  // Every member has a port for every head, in the order of heads, starting from itself. Where not all are heads, those
  // of a head depend on its place.
  [[nodiscard]] std::uint64_t shape(const CollectiveCall& call, const CollectivePlan&, int member, int) const override {
    return call.layout->largest_host <= kMostNvlsHeads ? 1 : 1 + static_cast<std::uint64_t>(member);
  }

  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const NvlsPlay play(call, plan);
    return static_cast<int>(play.loops.slices_in_all()) * play.heads;
  }
  // Head by head.
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const NvlsPlay play(call, plan);
    const int loops = static_cast<int>(play.loops.slices_in_all());
    const int head = piece / loops;
    const ChunkLoops::SliceIndex place = play.loops.slice_at(piece % loops);
    if (play.shared) return play.cells.inside(Cut(call.bytes, play.size).size(head), 0, play.loops.slice(place, 0));
    return play.cells.inside(call.bytes, 0, play.loops.slice(place, head));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;

 private:
  static void add_head_ports(const NvlsPlay& play, int member, NvlsRole role, ThreadBlock& out);
};

double share_of(const NvlsPlay& play, NvlsRole role) {
  const NvlsWarps warps = play.over_hosts ? nvls_warps_over_hosts() : nvls_warps(play.heads);
  switch (role) {
    case kNvlsScatter: return warps.scatter;
    case kNvlsReduce: return warps.reduce;
    case kNvlsGather: return warps.gather;
    case kNvlsHandOut:
    case kNvlsRoles: break;
  }
  return warps.hand_out;
}

// Of a head: port d is the member d positions before when it reads, after when it multicasts.
void Nvls::add_head_ports(const NvlsPlay& play, int member, NvlsRole role, ThreadBlock& out) {
  const int head = play.place(member);
  const bool multicasts = play.works(kNvlsGather) && role == (play.over_hosts ? kNvlsHandOut : kNvlsReduce);
  for (int d = 0; d < play.size; ++d) {
    if (multicasts) {
      out.sends.push_back(
          {.peer = play.neighbor(member, (head + d) % play.size), .route_kind = RouteKind::kUpToSwitch});
    }
    if (role == kNvlsReduce && play.works(kNvlsScatter)) {
      const int from = (head - d + play.size) % play.size;
      out.receives.push_back({.peer = play.neighbor(member, from),
                              .block = kNvlsScatter,
                              .port = play.port_of_head(from, head),
                              .route_kind = RouteKind::kDownFromSwitch});
    }
  }
}

void Nvls::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                 ThreadBlock& out) const {
  const NvlsPlay play(call, plan);
  const auto role = static_cast<NvlsRole>(block);
  const bool of_head = role == kNvlsReduce || role == kNvlsHandOut;
  out.clear();
  out.copies = play.cells.channels();
  out.thread_share = share_of(play, role);
  if (!play.works(role) || (of_head && !play.is_head(member))) return;
  out.primitives = play.loops.slices_in_all() * (of_head ? 1 : play.heads);
  const int host = call.layout->host_of[at(member)];
  const int place = play.place(member);
  if (role == kNvlsHandOut) {
    const int before = play.on_host(member, host_before(*call.layout, host));
    out.receives.push_back({.peer = before, .block = kNvlsReduce, .port = 0, .sum = place});
  }
  if (of_head) add_head_ports(play, member, role, out);
  for (int d = 0; d < play.heads && role == kNvlsScatter; ++d) {
    out.sends.push_back(
        {.peer = play.neighbor(member, play.scatters_to(place, d)), .route_kind = RouteKind::kUpToSwitch});
  }
  for (int d = 0; d < play.heads && role == kNvlsGather; ++d) {
    const int head = play.gathers_from(place, d);
    out.receives.push_back({.peer = play.neighbor(member, head),
                            .block = play.over_hosts ? kNvlsHandOut : kNvlsReduce,
                            .port = play.port_of_member(head, place),
                            .route_kind = RouteKind::kDownFromSwitch});
  }
  if (role == kNvlsReduce && play.over_hosts) {
    out.sends.push_back({.peer = play.on_host(member, next_host(*call.layout, host)), .sum = place});
  }
}

void Nvls::primitive(const CollectiveCall& call, const CollectivePlan& plan, int, int block, std::int64_t index,
                     Primitive& out) const {
  const NvlsPlay play(call, plan);
  const auto role = static_cast<NvlsRole>(block);
  const int steps = role == kNvlsReduce || role == kNvlsHandOut ? 1 : play.heads;
  out.clear();
  out.size = play.loops.slice_size(play.loops.slice_at(index / steps));
  const int distance = static_cast<int>(index % steps);
  out.continues = distance > 0;
  switch (role) {
    case kNvlsScatter:
      out.sends = {.first = distance, .count = 1};
      out.reads = true;
      break;
    case kNvlsReduce:
      out.receives.count = play.works(kNvlsScatter) ? play.size : 0;
      out.sends.count = play.over_hosts ? 1 : (play.works(kNvlsGather) ? play.size : 0);
      out.reads = !play.works(kNvlsScatter);
      out.stores = !play.works(kNvlsGather);
      break;
    case kNvlsHandOut:
      out.receives.count = 1;
      out.sends.count = play.size;
      break;
    case kNvlsGather:
    case kNvlsRoles:
      out.receives = {.first = distance, .count = 1};
      out.stores = true;
      break;
  }
}

void Nvls::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                    PrimitiveContents& out) const {
  const NvlsPlay play(call, plan);
  const auto role = static_cast<NvlsRole>(block);
  const int loops = static_cast<int>(play.loops.slices_in_all());
  out.clear();
  if (role == kNvlsHandOut) return;  // the gathering role stores what it passes on
  const int place = play.place(member);
  if (role == kNvlsReduce) {
    const int piece = place * loops + static_cast<int>(index);
    if (!play.works(kNvlsScatter)) out.reads.push_back(piece);
    if (!play.works(kNvlsGather)) out.stores.push_back(piece);
    return;
  }
  const int distance = static_cast<int>(index % play.heads);
  const int head = role == kNvlsScatter ? play.scatters_to(place, distance) : play.gathers_from(place, distance);
  const int piece = head * loops + static_cast<int>(index / play.heads);
  (role == kNvlsScatter ? out.reads : out.stores).push_back(piece);
}

}  // namespace

const ChannelAlgorithm& channel_nvls() {
  static const Nvls kNvls;
  return kNvls;
}

}  // namespace ringwright::collectives
