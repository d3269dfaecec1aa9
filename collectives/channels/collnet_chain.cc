// CollNetChain: a chain through each host reduces to its head, the GPU next to the NIC; network switches reduce over
// the heads, and the results go back down the chains.
//
// All-reduce only. Each kind of channel has a different head, so that all NICs are used. Of 640 threads 384 go up and
// 256 down; both directions run concurrently (NCCL 2.19 to 2.27, src/device/all_reduce.h, NCCL_ALGO_COLLNET_CHAIN).
#include "collectives/builtin_channels.h"
#include "collectives/channels/block_parts.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/channels/network_sum.h"
#include "collectives/shapes/channel_ring.h"
#include "collectives/shapes/host_chain.h"
#include "core/base/index.h"

namespace ringwright::collectives {

using namespace ringwright::literals;

const ChannelAlgorithm& channel_collnet_chain();

namespace {

enum ChainRole { kChainUp, kChainDown, kChainRoles };
constexpr double kUpShare = 384.0 / 640.0;
constexpr Bytes kMostChunk = 256_KiB;

struct ChainPlay {
  ChainPlay(const CollectiveCall& of, const CollectivePlan& plan)
      : layout(*of.layout),
        length(layout.largest_host),
        cells(of.bytes, {.channels = plan.channels, .kinds = ring_kinds(layout, plan)}),
        loops(cells.cell(), {.parts = 1,
                             .chunk = network_chunk(plan, {.bytes = of.bytes,
                                                           .concurrent = plan.channels,
                                                           .depth = length,
                                                           .most = kMostChunk,
                                                           .loops_at_last = 1})}),
        chains(layout, plan, cells.kinds()) {}

  [[nodiscard]] int host(int member) const { return layout.host_of[at(member)]; }
  [[nodiscard]] int neighbor(int kind, int member, int place) const {
    return chains.member_at(kind, {.host = host(member), .place = place});
  }
  [[nodiscard]] int head_of(int kind, int of_host) const { return chains.member_at(kind, {.host = of_host}); }

  const GroupLayout& layout;
  int length;
  ChannelCells cells;
  ChunkLoops loops;
  HostChains chains;
};

class CollnetChain final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "collnet_chain"; }
  [[nodiscard]] std::string_view help() const override {
    return "chains reduce inside hosts, network switches reduce over hosts (NCCL's CollNetChain)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.kind == CollectiveKind::kAllReduce && plan.protocol == Protocol::kSimple && call.layout->even() &&
           call.layout->host_count() > 1;
  }
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return ChainPlay(call, plan).cells.kinds() * kChainRoles;
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall& call, const CollectivePlan& plan, int member,
                                    int block) const override {
    const ChainPlay play(call, plan);
    const int place = play.chains.place_of(block / kChainRoles, member);
    return 1 + (place == 0 ? 1U : 0U) + (place + 1 == play.length ? 2U : 0U);
  }
  void parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const override;
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const ChainPlay play(call, plan);
    return play.cells.kinds() * static_cast<int>(play.loops.slices_in_all());
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const ChainPlay play(call, plan);
    const int loops = static_cast<int>(play.loops.slices_in_all());
    return play.cells.inside(call.bytes, piece / loops, play.loops.slice(play.loops.slice_at(piece % loops), 0));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;
};

void CollnetChain::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                         ThreadBlock& out) const {
  const ChainPlay play(call, plan);
  const int kind = block / kChainRoles;
  const int up = kind * kChainRoles + kChainUp;
  const int down = kind * kChainRoles + kChainDown;
  const int place = play.chains.place_of(kind, member);
  const bool head = place == 0;
  const bool tail = place + 1 == play.length;
  out.clear();
  out.channel = kind;
  out.copies = play.cells.copies(kind);
  out.thread_share = block == up ? kUpShare : 1.0 - kUpShare;
  out.primitives = play.loops.slices_in_all();
  const int host = play.host(member);
  if (block == up) {
    if (!tail) out.receives.push_back({.peer = play.neighbor(kind, member, place + 1), .block = up, .port = 0});
    if (!head) out.sends.push_back({.peer = play.neighbor(kind, member, place - 1)});
    if (head) {
      const int next = play.head_of(kind, next_host(play.layout, host));
      out.sends.push_back({.peer = next, .sum = kind, .nics = nics_between(play.layout, plan, kind, member, next)});
    }
    return;
  }
  if (!head) out.receives.push_back({.peer = play.neighbor(kind, member, place - 1), .block = down, .port = 0});
  if (head) {
    const int before = play.head_of(kind, host_before(play.layout, host));
    out.receives.push_back({.peer = before, .block = up, .port = 0, .sum = kind});
  }
  if (!tail) out.sends.push_back({.peer = play.neighbor(kind, member, place + 1)});
}

void CollnetChain::primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                             std::int64_t index, Primitive& out) const {
  const ChainPlay play(call, plan);
  const bool tail = play.chains.place_of(block / kChainRoles, member) + 1 == play.length;
  const bool up = block % kChainRoles == kChainUp;
  out.clear();
  out.size = play.loops.slice_size(play.loops.slice_at(index));
  out.receives.count = up && tail ? 0 : 1;
  out.sends.count = up || !tail ? 1 : 0;
  out.reads = up;
  out.adds = up && !tail;
  out.stores = !up;
}

// By position in the chain, then by direction.
void CollnetChain::parts(const CollectiveCall& call, const CollectivePlan& plan, int member,
                         std::vector<int>& out) const {
  const ChainPlay play(call, plan);
  std::vector<int> keys;
  for (int kind = 0; kind < play.cells.kinds(); ++kind) {
    const int key = play.chains.place_of(kind, member) * kChainRoles;
    keys.insert(keys.end(), {key + kChainUp, key + kChainDown});
  }
  parts_by_key(keys, out);
}

void CollnetChain::contents(const CollectiveCall& call, const CollectivePlan& plan, int, int block, std::int64_t index,
                            PrimitiveContents& out) const {
  const ChainPlay play(call, plan);
  const int piece = block / kChainRoles * static_cast<int>(play.loops.slices_in_all()) + static_cast<int>(index);
  out.clear();
  (block % kChainRoles == kChainUp ? out.reads : out.stores).push_back(piece);
}

}  // namespace

const ChannelAlgorithm& channel_collnet_chain() {
  static const CollnetChain kCollnetChain;
  return kCollnetChain;
}

}  // namespace ringwright::collectives
