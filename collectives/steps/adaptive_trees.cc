// Adaptive trees: up to four binary trees over hosts at once, in which hosts with fast links stand near the root.
//
// AdapCC (Zhao et al., ICDCS 2024; JoeyYoung/adapcc, gurobi/trees.py, policy `par-trees`): hosts are sorted by what was
// measured of their links, the fastest first; tree t is the complete binary tree over that list rotated by t, so that
// hosts at its end are leaves of all trees while there are twice as many hosts as trees. Each tree carries 1/T of the
// buffer in chunks of 4 MiB, up and down, and passes the members of a host as a chain. There every tree enters a host
// at its first member; here tree t at member t, so that hosts with several NICs use them.
//
// The pipeline is that of double_tree.cc: a member at depth d of trees of depth D sends chunk c up in step c + D - d,
// down in step c + D + d: C chunks take C - 1 + 2 D steps. A leaf sends S / T in a tree, an inner host up to 3 S / T.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "collectives/steps/library_rings.h"
#include "collectives/steps/piece_messages.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostAdaptiveTrees = 4;                           // the library's parallel_degree
constexpr Bytes kAdaptiveChunk = Bytes(std::int64_t{4} << 20);  // default_chunk
constexpr int kMostAdaptiveChunks = 1024;                       // of a tree

// A member's place in one tree.
struct AdaptiveNode {
  int parent = -1;
  std::vector<int> children;
  int depth = 0;
};

// Properties shared by all members. `order`: of hosts; empty: by their numbers.
struct AdaptiveShape {
  AdaptiveShape(const CollectiveCall& all, const std::vector<int>& listed)
      : call(all),
        order(listed),
        hosts(call.layout->host_count()),
        trees(std::min(hosts, kMostAdaptiveTrees)),
        chunks(static_cast<int>(std::clamp<std::int64_t>(
            (call.bytes.count() / trees + kAdaptiveChunk.count() - 1) / kAdaptiveChunk.count(), 1,
            kMostAdaptiveChunks))),
        depth(depth_at(hosts - 1) + call.layout->largest_host - 1),
        place_of_host(static_cast<std::size_t>(hosts)) {
    for (int place = 0; place < hosts; ++place) place_of_host[static_cast<std::size_t>(listed_at(place))] = place;
  }

  const CollectiveCall& call;
  const std::vector<int>& order;
  int hosts;
  int trees;
  int chunks;
  int depth;
  std::vector<int> place_of_host;  // in the order

  [[nodiscard]] int pieces() const { return trees * chunks; }
  [[nodiscard]] int listed_at(int place) const {
    return order.empty() ? place : order[static_cast<std::size_t>(place)];
  }
  // Of a position in the complete binary tree.
  [[nodiscard]] static int depth_at(int position) {
    int depth = 0;
    for (; position > 0; position = (position - 1) / 2) ++depth;
    return depth;
  }
  [[nodiscard]] int head(int tree, int position) const {
    const int host = listed_at(wrap(position + tree, hosts));
    return member_on(call, host, wrap(tree, host_size(call, host)));
  }
  [[nodiscard]] AdaptiveNode node_of(int tree, int member) const {
    const int host = host_of(call, member);
    const int size = host_size(call, host);
    const int along = wrap(place_of(call, member) - tree, size);
    const int position = wrap(place_of_host[static_cast<std::size_t>(host)] - tree, hosts);
    const auto in_chain = [&](int at) { return member_on(call, host, wrap(tree + at, size)); };
    AdaptiveNode node{.parent = -1, .children = {}, .depth = depth_at(position) + along};
    if (along + 1 < size) node.children.push_back(in_chain(along + 1));
    if (along > 0) {
      node.parent = in_chain(along - 1);
      return node;
    }
    if (position > 0) node.parent = head(tree, (position - 1) / 2);
    for (const int below : {2 * position + 1, 2 * position + 2}) {
      if (below < hosts) node.children.push_back(head(tree, below));
    }
    return node;
  }
};

class AdaptiveTrees final : public CollectiveAlgorithm {
 public:
  explicit AdaptiveTrees(std::vector<int> order) : order_(std::move(order)) {}

  [[nodiscard]] std::string_view name() const override { return "adaptive_trees"; }
  [[nodiscard]] std::string_view help() const override {
    return "up to four binary trees over hosts, those with the fastest links near the root (AdapCC)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce;
  }
  [[nodiscard]] bool follows_host_speeds() const override { return true; }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    if (call.size() == 1) return 0;
    const AdaptiveShape shape(call, order_);
    return shape.chunks - 1 + 2 * shape.depth;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const AdaptiveShape shape(call, order_);
    const Cut cut(call.bytes, shape.pieces());
    fill_step(
        member, neighbours(shape, member), [&](int of) { return messages_of(shape, of, index); },
        [&](int piece) { return cut.size(piece); }, out);
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return AdaptiveShape(call, order_).pieces(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const PieceMessage message =
        messages_of(AdaptiveShape(call, order_), member, index)[static_cast<std::size_t>(send)];
    out.pieces = message.pieces;
    out.reduce = message.reduce;
  }

 private:
  static std::vector<PieceMessage> messages_of(const AdaptiveShape& shape, int member, int index) {
    std::vector<PieceMessage> messages;
    const auto send = [&](int peer, bool reduce, int piece) {
      add_to_messages(messages, {.peer = peer, .reduce = reduce, .pieces = {piece}});
    };
    for (int tree = 0; tree < shape.trees; ++tree) {
      const AdaptiveNode node = shape.node_of(tree, member);
      const int first = tree * shape.chunks;
      const int up = index - (shape.depth - node.depth);
      const int down = index - shape.depth - node.depth;
      if (up >= 0 && up < shape.chunks && node.parent >= 0) send(node.parent, true, first + up);
      for (const int child : node.children) {
        if (down >= 0 && down < shape.chunks) send(child, false, first + down);
      }
    }
    return messages;
  }

  static std::vector<int> neighbours(const AdaptiveShape& shape, int member) {
    std::vector<int> peers;
    for (int tree = 0; tree < shape.trees; ++tree) {
      const AdaptiveNode node = shape.node_of(tree, member);
      add_peer(peers, node.parent);
      for (const int child : node.children) add_peer(peers, child);
    }
    return peers;
  }

  std::vector<int> order_;
};

}  // namespace

const CollectiveAlgorithm& adaptive_trees() {
  static const AdaptiveTrees algorithm({});
  return algorithm;
}

std::unique_ptr<const CollectiveAlgorithm> make_adaptive_trees(const std::vector<double>& speed_of_host) {
  std::vector<int> order(speed_of_host.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](int host) { return speed_of_host[static_cast<std::size_t>(host)]; });
  return std::make_unique<AdaptiveTrees>(std::move(order));
}

}  // namespace ringwright::collectives
