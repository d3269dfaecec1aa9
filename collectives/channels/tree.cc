// Tree: NCCL's double binary tree over hosts with a chain inside each, for all-reduce: sums go up to the root and
// results come down concurrently, on separate warps of each channel.
//
// Half of the channels use each tree (host_tree.h), and each kind of channel has its chain heads at a different GPU, so
// that all NICs are used. The root handles both directions in one primitive. Chunks are one slot; LL128's shrink for
// small buffers (NCCL 2.22 to 2.27, src/device/all_reduce.h runTreeSplit, src/enqueue.cc, src/graph/connect.cc).
#include <algorithm>
#include <array>
#include <bit>

#include "collectives/builtin_channels.h"
#include "collectives/channels/block_parts.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/shapes/channel_ring.h"
#include "collectives/shapes/host_chain.h"
#include "collectives/shapes/host_tree.h"
#include "core/base/index.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_tree();

namespace {

constexpr int kChannelTrees = 2;
// Of a channel's warps, those that reduce: 7 of 10 where flags travel with the data; of 512 threads 320 with Simple.
constexpr double kReduceShareOfFlags = 0.7;
constexpr double kReduceShareOfSimple = 0.625;
// Chunks are multiples of what a warp takes at once (ncclProtoGrainSize of src/include/device.h, 2.22 and later).
constexpr std::int64_t kLl128Grain = 1920;

double loops_of(const CollectiveCall& call, const CollectivePlan& plan, Bytes chunk) {
  return static_cast<double>(call.bytes.count() / (chunk.count() * plan.channels));
}

Bytes chunk_of(const CollectiveCall& call, const CollectivePlan& plan) {
  Bytes chunk = slot_data(plan);
  if (plan.chunk > Bytes(0) || plan.protocol != Protocol::kLl128) return chunk;
  const auto hosts = static_cast<unsigned>(call.layout->host_count());
  const double per_host = static_cast<double>(call.size()) / hosts;
  const int log_hosts = static_cast<int>(std::bit_width(hosts)) - 1;
  const auto halve = [&](double loops, std::int64_t above) {
    while (loops_of(call, plan, chunk) < loops && chunk.count() > above) chunk = align_up(chunk / 2);
  };
  const double steps = 1.0 + log_hosts + 0.1 * per_host;
  halve(steps * 64.0 / per_host, 131'072);
  halve(steps * 16.0 / per_host, 32'768);
  return Bytes(chunk.count() / kLl128Grain * kLl128Grain);
}

// Position of a member in the tree of one kind of channel.
struct TreePosition {
  int parent = -1;
  int index_at_parent = 0;  // among the parent's children
  bool parent_is_root = false;
  std::array<int, 3> children = {-1, -1, -1};
  int child_count = 0;
};

struct TreePlay {
  TreePlay(const CollectiveCall& of, const CollectivePlan& with)
      : call(of),
        plan(with),
        shape{.parts = 1, .chunk = chunk_of(of, plan)},
        cells(of.bytes, {.channels = plan.channels,
                         .kinds = kChannelTrees * ring_kinds(*of.layout, plan),
                         .least = ragged_cell(of.bytes, plan, shape)}),
        loops(cells.cell(), shape),
        chains(*of.layout, plan, std::max(cells.kinds() / kChannelTrees, 1)) {}

  [[nodiscard]] static int tree_of(int kind) { return kind % kChannelTrees; }
  // The member at a position of its host's chain; the head is at 0.
  [[nodiscard]] int in_chain(int kind, int host, int place) const {
    return chains.member_at(kind / kChannelTrees, {.host = host, .place = place});
  }
  [[nodiscard]] int place_in_chain(int kind, int member) const { return chains.place_of(kind / kChannelTrees, member); }
  [[nodiscard]] bool is_root(int kind, int member) const {
    return place_in_chain(kind, member) == 0 &&
           call.layout->host_of[at(member)] == tree_root(call.layout->host_count(), tree_of(kind));
  }
  [[nodiscard]] int child_count(int kind, int member) const {
    const int host = call.layout->host_of[at(member)];
    const int size = static_cast<int>(call.layout->hosts[at(host)].size());
    const int rank = place_in_chain(kind, member);
    const int below = rank + 1 < size ? 1 : 0;
    if (rank > 0) return below;
    const TreeNode node = tree_node({.hosts = call.layout->host_count(), .tree = tree_of(kind), .host = host});
    return below + (node.children[0] >= 0 ? 1 : 0) + (node.children[1] >= 0 ? 1 : 0);
  }

  [[nodiscard]] SendPort port_to(int kind, int member, int peer) const {
    return {.peer = peer, .nics = nics_between(*call.layout, plan, kind / kChannelTrees, member, peer)};
  }

  // Children in the order of NCCL's `down`: the next in the chain, then the child hosts.
  void add_children(int kind, int member, TreePosition& place) const {
    const int host = call.layout->host_of[at(member)];
    const int size = static_cast<int>(call.layout->hosts[at(host)].size());
    const int rank = place_in_chain(kind, member);
    if (rank + 1 < size) place.children[at(place.child_count++)] = in_chain(kind, host, rank + 1);
    if (rank > 0) return;
    const TreeNode node = tree_node({.hosts = call.layout->host_count(), .tree = tree_of(kind), .host = host});
    for (const int below : node.children) {
      if (below >= 0) place.children[at(place.child_count++)] = in_chain(kind, below, 0);
    }
  }

  [[nodiscard]] TreePosition place_of(int kind, int member) const {
    TreePosition place;
    add_children(kind, member, place);
    const int host = call.layout->host_of[at(member)];
    const int rank = place_in_chain(kind, member);
    if (rank > 0) {
      place.parent = in_chain(kind, host, rank - 1);
    } else if (!is_root(kind, member)) {
      const TreeNode node = tree_node({.hosts = call.layout->host_count(), .tree = tree_of(kind), .host = host});
      place.parent = in_chain(kind, node.parent, 0);
    }
    if (place.parent < 0) return place;
    place.parent_is_root = is_root(kind, place.parent);
    TreePosition above;
    add_children(kind, place.parent, above);
    while (above.children[at(place.index_at_parent)] != member) ++place.index_at_parent;
    return place;
  }

  const CollectiveCall& call;
  const CollectivePlan& plan;
  ChunkLoops::Shape shape;
  ChannelCells cells;
  ChunkLoops loops;
  HostChains chains;
};

// Blocks are paired: 2 k reduces on kind k, 2 k + 1 passes results down.
class Tree final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "tree"; }
  [[nodiscard]] std::string_view help() const override {
    return "two binary trees over hosts, chains inside them (NCCL's double binary tree)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan&) const override {
    return call.kind == CollectiveKind::kAllReduce;
  }
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return call.size() == 1 ? 0 : 2 * TreePlay(call, plan).cells.kinds();
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall& call, const CollectivePlan& plan, int member,
                                    int block) const override {
    const TreePosition place = TreePlay(call, plan).place_of(block / 2, member);
    return 1 + static_cast<std::uint64_t>(place.child_count) * 2 + (place.parent < 0 ? 1U : 0U);
  }
  void parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const override;
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const TreePlay play(call, plan);
    return play.cells.kinds() * static_cast<int>(play.loops.slices_in_all());
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const TreePlay play(call, plan);
    const int loops = static_cast<int>(play.loops.slices_in_all());
    return play.cells.inside(call.bytes, piece / loops, play.loops.slice(play.loops.slice_at(piece % loops), 0));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;
};

void Tree::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                 ThreadBlock& out) const {
  const TreePlay play(call, plan);
  const int kind = block / 2;
  const bool up = block % 2 == 0;
  const TreePosition place = play.place_of(kind, member);
  const bool root = place.parent < 0;
  const double up_share = plan.protocol == Protocol::kSimple ? kReduceShareOfSimple : kReduceShareOfFlags;
  out.clear();
  out.channel = kind;
  out.copies = play.cells.copies(kind);
  out.thread_share = root ? 1.0 : (up ? up_share : 1.0 - up_share);
  if (root && !up) return;
  out.primitives = play.loops.slices_in_all();
  if (up) {
    for (int child = 0; child < place.child_count; ++child) {
      out.receives.push_back({.peer = place.children[at(child)], .block = block, .port = 0});
    }
    if (!root) out.sends.push_back(play.port_to(kind, member, place.parent));
  } else {
    out.receives.push_back(
        {.peer = place.parent, .block = place.parent_is_root ? block - 1 : block, .port = place.index_at_parent});
  }
  if (up && !root) return;
  for (int child = 0; child < place.child_count; ++child) {
    out.sends.push_back(play.port_to(kind, member, place.children[at(child)]));
  }
}

void Tree::primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                     Primitive& out) const {
  const TreePlay play(call, plan);
  const int children = play.child_count(block / 2, member);
  const bool up = block % 2 == 0;
  const bool root = play.is_root(block / 2, member);
  out.clear();
  out.size = play.loops.slice_size(play.loops.slice_at(index));
  out.receives.count = up ? children : 1;
  out.sends.count = up && !root ? 1 : children;
  out.reads = up;
  out.stores = !up || root;
  out.adds = up && children > 0;
}

// By position in the chain, then by tree and direction.
void Tree::parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const {
  const TreePlay play(call, plan);
  const int host = call.layout->host_of[at(member)];
  std::vector<int> keys;
  for (int kind = 0; kind < play.cells.kinds(); ++kind) {
    const int tree = mirrored_tree({.hosts = call.layout->host_count(), .tree = TreePlay::tree_of(kind), .host = host});
    const int key = (play.place_in_chain(kind, member) * kChannelTrees + tree) * 2;
    keys.insert(keys.end(), {key, key + 1});
  }
  parts_by_key(keys, out);
}

void Tree::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                    PrimitiveContents& out) const {
  const TreePlay play(call, plan);
  const int piece = block / 2 * static_cast<int>(play.loops.slices_in_all()) + static_cast<int>(index);
  const bool up = block % 2 == 0;
  out.clear();
  if (up) out.reads.push_back(piece);
  if (!up || play.is_root(block / 2, member)) out.stores.push_back(piece);
}

}  // namespace

const ChannelAlgorithm& channel_tree() {
  static const Tree kTree;
  return kTree;
}

}  // namespace ringwright::collectives
