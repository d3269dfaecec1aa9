// Library trees: the trees that NCCL's search finds: for each kind of channel a chain through every host in the order
// found, and two binary trees over the chains' heads, each with half of the kind's share.
//
// The pipeline is that of double_tree.cc: a member at depth d of trees of depth D sends chunk c up in step c + D - d,
// down in step c + D + d: C chunks take C - 1 + 2 D steps. Heads are those of the plan's orders, so that a host's trees
// use as many NICs as the library's.
#include <cstddef>
#include <vector>

#include "collectives/shapes/channel_ring.h"
#include "collectives/shapes/cut.h"
#include "collectives/shapes/host_chain.h"
#include "collectives/shapes/host_tree.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "collectives/steps/library_rings.h"
#include "collectives/steps/piece_messages.h"

namespace ringwright::collectives {
namespace {

// Properties shared by all members.
struct LibraryTreeShape {
  int hosts;
  int trees;
  int kinds;   // chains through each host
  int depth;   // D, as if all hosts had as many members as the largest
  int chunks;

  LibraryTreeShape(const CollectiveCall& call, const CollectivePlan& plan)
      : hosts(call.layout->host_count()),
        trees(hosts > 1 ? 2 : 1),
        kinds(ring_kinds(*call.layout, plan)),
        depth(tree_height(hosts) + call.layout->largest_host - 1),
        chunks(pipeline_chunks(call.bytes, 2 * depth - 1)) {}
  [[nodiscard]] int pieces() const { return trees * kinds * chunks; }
};

// A member in one tree of one kind of channel.
struct LibraryTreeNode {
  int kind = 0;
  int host = 0;
  int place = 0;  // in the host's chain
  TreeNode over;  // of the host
  int first = 0;  // piece of the tree and kind
  [[nodiscard]] int depth() const { return over.depth + place; }
};

// A peer of a member in one of its trees.
struct LibraryTreePeer {
  int member = 0;
  bool is_parent = false;
};

class LibraryTrees final : public CollectiveAlgorithm {
 public:
  explicit LibraryTrees(const CollectivePlan& plan) : plan_(plan) {}

  [[nodiscard]] std::string_view name() const override { return "trees"; }
  [[nodiscard]] std::string_view help() const override {
    return "double binary trees over hosts on as many chains as the library's search finds (NCCL's tree)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    if (call.size() == 1) return 0;
    const LibraryTreeShape shape(call, plan_);
    return shape.chunks - 1 + 2 * shape.depth;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const LibraryTreeShape shape(call, plan_);
    const Cut cut(call.bytes, shape.pieces());
    fill_step(
        member, senders_to(call, shape, member, index), [&](int of) { return messages_of(call, shape, of, index); },
        [&](int piece) { return cut.size(piece); }, out);
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return LibraryTreeShape(call, plan_).pieces(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const PieceMessage message =
        messages_of(call, LibraryTreeShape(call, plan_), member, index)[static_cast<std::size_t>(send)];
    out.pieces = message.pieces;
    out.reduce = message.reduce;
  }

 private:
  // Calls `visit(node)` for the member's node in each tree of each kind of channel.
  template <class Visit>
  void for_each_node(const CollectiveCall& call, const LibraryTreeShape& shape, int member, const Visit& visit) const {
    const HostChains chains(*call.layout, plan_, shape.kinds);
    const int host = host_of(call, member);
    for (int tree = 0; tree < shape.trees; ++tree) {
      const TreeNode over = tree_node({.hosts = shape.hosts, .tree = tree, .host = host});
      for (int kind = 0; kind < shape.kinds; ++kind) {
        visit(LibraryTreeNode{.kind = kind,
                              .host = host,
                              .place = chains.place_of(kind, member),
                              .over = over,
                              .first = (tree * shape.kinds + kind) * shape.chunks});
      }
    }
  }

  // The parent and the children of a node: in the host's chain, or heads of other hosts' chains.
  template <class Visit>
  void for_each_peer(const CollectiveCall& call, const LibraryTreeShape& shape, const LibraryTreeNode& node,
                     const Visit& visit) const {
    const HostChains chains(*call.layout, plan_, shape.kinds);
    const auto at_place = [&](int host, int place) {
      return chains.member_at(node.kind, {.host = host, .place = place});
    };
    if (node.place > 0) {
      visit(LibraryTreePeer{.member = at_place(node.host, node.place - 1), .is_parent = true});
    } else if (node.over.parent >= 0) {
      visit(LibraryTreePeer{.member = at_place(node.over.parent, 0), .is_parent = true});
    }
    if (node.place + 1 < host_size(call, node.host)) {
      visit(LibraryTreePeer{.member = at_place(node.host, node.place + 1)});
    }
    if (node.place > 0) return;
    for (const int below : node.over.children) {
      if (below >= 0) visit(LibraryTreePeer{.member = at_place(below, 0)});
    }
  }

  // The chunk that a node at this depth sends up, or down, in a step; -1: none.
  [[nodiscard]] static int chunk_sent(const LibraryTreeShape& shape, int depth, bool up, int index) {
    const int chunk = up ? index - (shape.depth - depth) : index - shape.depth - depth;
    return chunk >= 0 && chunk < shape.chunks ? chunk : -1;
  }

  [[nodiscard]] std::vector<PieceMessage> messages_of(const CollectiveCall& call, const LibraryTreeShape& shape,
                                                      int member, int index) const {
    std::vector<PieceMessage> messages;
    for_each_node(call, shape, member, [&](const LibraryTreeNode& node) {
      const int up = chunk_sent(shape, node.depth(), true, index);
      const int down = chunk_sent(shape, node.depth(), false, index);
      if (up < 0 && down < 0) return;
      for_each_peer(call, shape, node, [&](const LibraryTreePeer& peer) {
        const int chunk = peer.is_parent ? up : down;
        if (chunk < 0) return;
        const MessageNics nics = nics_between(*call.layout, plan_, node.kind, member, peer.member);
        add_to_messages(messages, {.peer = peer.member,
                                   .reduce = peer.is_parent,
                                   .pieces = {node.first + chunk},
                                   .nics = nics});
      });
    });
    return messages;
  }

  // Those that send to the member in the step.
  [[nodiscard]] std::vector<int> senders_to(const CollectiveCall& call, const LibraryTreeShape& shape, int member,
                                            int index) const {
    std::vector<int> senders;
    for_each_node(call, shape, member, [&](const LibraryTreeNode& node) {
      const bool from_parent = chunk_sent(shape, node.depth() - 1, false, index) >= 0;
      const bool from_children = chunk_sent(shape, node.depth() + 1, true, index) >= 0;
      if (!from_parent && !from_children) return;
      for_each_peer(call, shape, node, [&](const LibraryTreePeer& peer) {
        if (peer.is_parent ? from_parent : from_children) add_peer(senders, peer.member);
      });
    });
    return senders;
  }

  CollectivePlan plan_;
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_library_trees(const CollectivePlan& plan) {
  return std::make_unique<LibraryTrees>(plan);
}

}  // namespace ringwright::collectives
