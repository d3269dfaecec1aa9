// Library trees: the trees that NCCL's search finds: for each kind of channel a chain through every host in the order
// found, and two binary trees over the chains' heads, each with half of the kind's share.
//
// The pipeline is that of double_tree.cc: a member at depth d of trees of depth D sends chunk c up in step c + D - d,
// down in step c + D + d: C chunks take C - 1 + 2 D steps. Heads are those of the plan's orders, so that a host's trees
// use as many NICs as the library's.
#include <algorithm>
#include <array>
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

// One tree of one kind of channel.
struct LibraryTreeChannel {
  int tree = 0;
  int kind = 0;
};

// A member's position in a queue.
struct LibraryTreeNode {
  int parent = -1;
  std::vector<int> children;
  int depth = 0;
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
        member, neighbours(call, shape, member), [&](int of) { return messages_of(call, shape, of, index); },
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
  [[nodiscard]] LibraryTreeNode node_of(const CollectiveCall& call, const LibraryTreeShape& shape,
                                        const LibraryTreeChannel& channel, int member) const {
    const HostChains chains(*call.layout, plan_, shape.kinds);
    const int host = host_of(call, member);
    const int place = chains.place_of(channel.kind, member);
    const TreeNode over = tree_node({.hosts = shape.hosts, .tree = channel.tree, .host = host});
    LibraryTreeNode node{.parent = -1, .children = {}, .depth = over.depth + place};
    if (place + 1 < host_size(call, host)) {
      node.children.push_back(chains.member_at(channel.kind, {.host = host, .place = place + 1}));
    }
    if (place > 0) {
      node.parent = chains.member_at(channel.kind, {.host = host, .place = place - 1});
      return node;
    }
    if (over.parent >= 0) node.parent = chains.member_at(channel.kind, {.host = over.parent, .place = 0});
    for (const int below : over.children) {
      if (below >= 0) node.children.push_back(chains.member_at(channel.kind, {.host = below, .place = 0}));
    }
    return node;
  }

  [[nodiscard]] std::vector<PieceMessage> messages_of(const CollectiveCall& call, const LibraryTreeShape& shape,
                                                      int member, int index) const {
    std::vector<PieceMessage> messages;
    const auto send = [&](int peer, bool reduce, int kind, int piece) {
      const MessageNics nics = nics_between(*call.layout, plan_, kind, member, peer);
      add_to_messages(messages, {.peer = peer, .reduce = reduce, .pieces = {piece}, .nics = nics});
    };
    for (int tree = 0; tree < shape.trees; ++tree) {
      for (int kind = 0; kind < shape.kinds; ++kind) {
        const LibraryTreeNode node = node_of(call, shape, {.tree = tree, .kind = kind}, member);
        const int first = (tree * shape.kinds + kind) * shape.chunks;
        const int up = index - (shape.depth - node.depth);
        const int down = index - shape.depth - node.depth;
        if (up >= 0 && up < shape.chunks && node.parent >= 0) send(node.parent, true, kind, first + up);
        for (const int child : node.children) {
          if (down >= 0 && down < shape.chunks) send(child, false, kind, first + down);
        }
      }
    }
    return messages;
  }

  [[nodiscard]] std::vector<int> neighbours(const CollectiveCall& call, const LibraryTreeShape& shape,
                                            int member) const {
    std::vector<int> peers;
    for (int tree = 0; tree < shape.trees; ++tree) {
      for (int kind = 0; kind < shape.kinds; ++kind) {
        const LibraryTreeNode node = node_of(call, shape, {.tree = tree, .kind = kind}, member);
        add_peer(peers, node.parent);
        for (const int child : node.children) add_peer(peers, child);
      }
    }
    return peers;
  }

  CollectivePlan plan_;
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_library_trees(const CollectivePlan& plan) {
  return std::make_unique<LibraryTrees>(plan);
}

}  // namespace ringwright::collectives
