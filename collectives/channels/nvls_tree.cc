// NVLSTree: the NVSwitches of each host reduce to one head GPU per part; heads at the same position in their hosts form
// a double binary tree over hosts; results are multicast inside the hosts.
//
// All-reduce only. As in NVLS (nvls.cc) some warps scatter and gather; reducing warps add the sums of child hosts and
// send up, others pass results down (NCCL 2.19 to 2.27, src/device/all_reduce.h, NVLSTree).
#include <array>

#include "collectives/builtin_channels.h"
#include "collectives/channels/block_parts.h"
#include "collectives/channels/channel_cut.h"
#include "collectives/channels/nvls_parts.h"
#include "collectives/shapes/host_tree.h"
#include "core/base/index.h"

namespace ringwright::collectives {

const ChannelAlgorithm& channel_nvls_tree();

namespace {

enum NvlsTreeRole { kNvlsTreeScatter, kNvlsTreeUp, kNvlsTreeDown, kNvlsTreeGather, kNvlsTreeRoles };
constexpr int kNvlsTrees = 2;

struct NvlsTreePlay {
  NvlsTreePlay(const CollectiveCall& of, const CollectivePlan& plan)
      : layout(*of.layout),
        heads(layout.largest_host),
        cells(of.bytes, {.channels = plan.channels, .kinds = kNvlsTrees}),
        loops(cells.cell(),
              {.parts = heads,
               .chunk = nvls_chunk(plan, {.bytes = of.bytes, .heads = heads, .hosts = layout.host_count()})}) {}

  [[nodiscard]] int host(int member) const { return layout.host_of[at(member)]; }
  [[nodiscard]] int place(int member) const { return layout.place_in_host[at(member)]; }
  [[nodiscard]] int on_host(int there, int at_place) const { return layout.hosts[at(there)][at(at_place % heads)]; }
  [[nodiscard]] TreeNode node(int kind, int there) const {
    return tree_node({.hosts = layout.host_count(), .tree = kind, .host = there});
  }

  const GroupLayout& layout;
  int heads;
  ChannelCells cells;
  ChunkLoops loops;
};

int child_count(const TreeNode& node) {
  return (node.children[0] >= 0 ? 1 : 0) + (node.children[1] >= 0 ? 1 : 0);
}

// The children without gaps, as ports number them.
std::array<int, 2> children_of(const TreeNode& node) {
  if (node.children[0] >= 0) return node.children;
  return {node.children[1], -1};
}

class NvlsTreeAlgorithm final : public ChannelAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "nvls_tree"; }
  [[nodiscard]] std::string_view help() const override {
    return "the hosts' NVSwitches reduce and multicast, two trees connect the hosts (NCCL's NVLSTree)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const GroupLayout& layout = *call.layout;
    return call.kind == CollectiveKind::kAllReduce && plan.protocol == Protocol::kSimple && layout.even() &&
           layout.host_count() > 1 && layout.largest_host > 1;
  }
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override {
    return NvlsTreePlay(call, plan).cells.kinds() * kNvlsTreeRoles;
  }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;
  [[nodiscard]] std::uint64_t shape(const CollectiveCall& call, const CollectivePlan& plan, int member,
                                    int block) const override {
    const NvlsTreePlay play(call, plan);
    const TreeNode node = play.node(block / kNvlsTreeRoles, play.host(member));
    return 1 + 2 * static_cast<std::uint64_t>(child_count(node)) + (node.parent < 0 ? 1U : 0U);
  }
  void parts(const CollectiveCall& call, const CollectivePlan& plan, int member, std::vector<int>& out) const override;
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override {
    const NvlsTreePlay play(call, plan);
    return play.cells.kinds() * play.heads * static_cast<int>(play.loops.slices_in_all());
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override {
    const NvlsTreePlay play(call, plan);
    const int loops = static_cast<int>(play.loops.slices_in_all());
    const int head = piece / loops % play.heads;
    return play.cells.inside(call.bytes, piece / loops / play.heads,
                             play.loops.slice(play.loops.slice_at(piece % loops), head));
  }
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;

 private:
  static void add_ports(const NvlsTreePlay& play, int member, int block, ThreadBlock& out);
};

// Queues inside a host are numbered by the distance from writer to reader, as in nvls.cc; ports to other hosts follow.
void NvlsTreeAlgorithm::add_ports(const NvlsTreePlay& play, int member, int block, ThreadBlock& out) {
  const int kind = block / kNvlsTreeRoles;
  const int first = kind * kNvlsTreeRoles;
  const auto role = static_cast<NvlsTreeRole>(block % kNvlsTreeRoles);
  const int host = play.host(member);
  const int place = play.place(member);
  const TreeNode node = play.node(kind, host);
  const bool root = node.parent < 0;
  const bool passes_down = role == kNvlsTreeDown || (role == kNvlsTreeUp && root);
  const int n = play.heads;
  for (int d = 0; d < n; ++d) {
    const int on = play.on_host(host, place + d);
    const int back = play.on_host(host, place - d + n);
    if (role == kNvlsTreeScatter || passes_down)
      out.sends.push_back({.peer = on, .route_kind = RouteKind::kUpToSwitch});
    if (role == kNvlsTreeUp) {
      out.receives.push_back(
          {.peer = back, .block = first + kNvlsTreeScatter, .port = d, .route_kind = RouteKind::kDownFromSwitch});
    }
    if (role == kNvlsTreeGather) {
      const int head_block = first + (root ? kNvlsTreeUp : kNvlsTreeDown);
      out.receives.push_back({.peer = back, .block = head_block, .port = d, .route_kind = RouteKind::kDownFromSwitch});
    }
  }
  const std::array<int, 2> children = children_of(node);
  for (int c = 0; c < child_count(node); ++c) {
    const int head = play.on_host(children[at(c)], place);
    if (role == kNvlsTreeUp) out.receives.push_back({.peer = head, .block = first + kNvlsTreeUp, .port = 0});
    if (passes_down) out.sends.push_back({.peer = head});
  }
  if (root) return;
  const int above = play.on_host(node.parent, place);
  if (role == kNvlsTreeUp) out.sends.push_back({.peer = above});
  if (role != kNvlsTreeDown) return;
  const TreeNode parent = play.node(kind, node.parent);
  const int index = children_of(parent)[0] == host ? 0 : 1;
  out.receives.push_back(
      {.peer = above, .block = first + (parent.parent < 0 ? kNvlsTreeUp : kNvlsTreeDown), .port = n + index});
}

void NvlsTreeAlgorithm::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                     ThreadBlock& out) const {
  const NvlsTreePlay play(call, plan);
  const int kind = block / kNvlsTreeRoles;
  const auto role = static_cast<NvlsTreeRole>(block % kNvlsTreeRoles);
  const bool root = play.node(kind, play.host(member)).parent < 0;
  const NvlsWarps warps = nvls_tree_warps(root ? TreeRole::kRoot : TreeRole::kBelow, call.size());
  out.clear();
  out.channel = kind;
  out.copies = play.cells.copies(kind);
  const std::array<double, kNvlsTreeRoles> shares = {warps.scatter, warps.reduce, warps.hand_out, warps.gather};
  out.thread_share = shares[static_cast<std::size_t>(role)];
  if (role == kNvlsTreeDown && root) return;
  const bool to_all_heads = role == kNvlsTreeScatter || role == kNvlsTreeGather;
  out.primitives = play.loops.slices_in_all() * (to_all_heads ? play.heads : 1);
  add_ports(play, member, block, out);
}

void NvlsTreeAlgorithm::primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                         std::int64_t index, Primitive& out) const {
  const NvlsTreePlay play(call, plan);
  const auto role = static_cast<NvlsTreeRole>(block % kNvlsTreeRoles);
  const bool to_all_heads = role == kNvlsTreeScatter || role == kNvlsTreeGather;
  const int steps = to_all_heads ? play.heads : 1;
  const TreeNode node = play.node(block / kNvlsTreeRoles, play.host(member));
  const bool root = node.parent < 0;
  out.clear();
  out.size = play.loops.slice_size(play.loops.slice_at(index / steps));
  const int distance = static_cast<int>(index % steps);
  out.continues = distance > 0;
  if (role == kNvlsTreeScatter) {
    out.sends = {.first = distance, .count = 1};
    out.reads = true;
  } else if (role == kNvlsTreeGather) {
    out.receives = {.first = distance, .count = 1};
    out.stores = true;
  } else {
    const int all = play.heads + child_count(node);
    out.receives.count = role == kNvlsTreeUp ? all : 1;
    out.sends.count = role == kNvlsTreeUp && !root ? 1 : all;
    out.adds = role == kNvlsTreeUp && child_count(node) > 0;
  }
}

// By tree and role.
void NvlsTreeAlgorithm::parts(const CollectiveCall& call, const CollectivePlan& plan, int member,
                              std::vector<int>& out) const {
  const NvlsTreePlay play(call, plan);
  std::vector<int> keys;
  for (int kind = 0; kind < play.cells.kinds(); ++kind) {
    const int tree = mirrored_tree({.hosts = play.layout.host_count(), .tree = kind, .host = play.host(member)});
    for (int role = 0; role < kNvlsTreeRoles; ++role) keys.push_back(tree * kNvlsTreeRoles + role);
  }
  parts_by_key(keys, out);
}

void NvlsTreeAlgorithm::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                        std::int64_t index, PrimitiveContents& out) const {
  const NvlsTreePlay play(call, plan);
  const auto role = static_cast<NvlsTreeRole>(block % kNvlsTreeRoles);
  out.clear();
  if (role == kNvlsTreeUp || role == kNvlsTreeDown) return;  // the gathering role stores what they send
  const int n = play.heads;
  const int distance = static_cast<int>(index % n);
  const int head = (play.place(member) + (role == kNvlsTreeScatter ? distance : n - distance)) % n;
  const int loops = static_cast<int>(play.loops.slices_in_all());
  const int piece = (block / kNvlsTreeRoles * n + head) * loops + static_cast<int>(index / n);
  (role == kNvlsTreeScatter ? out.reads : out.stores).push_back(piece);
}

}  // namespace

const ChannelAlgorithm& channel_nvls_tree() {
  static const NvlsTreeAlgorithm kNvlsTree;
  return kNvlsTree;
}

}  // namespace ringwright::collectives
