// Double tree: half of the data goes up and down each of two trees over hosts, with a chain through every host.
//
// As NCCL lays it out: chains inside hosts, a double binary tree over the chains' heads, one such pair of trees per
// GPU position (channel), so that every NIC carries its part. Broadcast and reduce put the root's host above both
// trees of the other hosts (Sanders, Speck and Traff 2009); NCCL itself uses rings there.
// A member at depth d of a tree of depth D sends chunk c up in step c + D - d and down in step c + D + d: C chunks take
// C - 1 + 2 D steps, one way C - 1 + D. With N hosts of one member, D = ceil(log2 N), and without sharing all-reduce
// takes (C - 1 + 2 D) (a + S / (2 C B)); alone in a host, D = n - 1 and the channels' messages travel together.
#include <array>
#include <cstddef>

#include "collectives/cut.h"
#include "collectives/host_tree.h"
#include "collectives/pipeline.h"
#include "collectives/ring_order.h"
#include "core/base/check.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

bool is_rooted(const CollectiveCall& call) { return call.kind != CollectiveKind::kAllReduce; }
bool goes_up(const CollectiveCall& call) { return call.kind != CollectiveKind::kBroadcast; }
bool goes_down(const CollectiveCall& call) { return call.kind != CollectiveKind::kReduce; }

// What all members agree on.
struct Shape {
  int hosts;
  int tree_hosts;  // a root's host stands above the trees, not in them
  int trees;
  int channels;    // every host has a head for each
  int depth;       // D
  int chunks;

  explicit Shape(const CollectiveCall& call)
      : hosts(call.layout->host_count()),
        tree_hosts(is_rooted(call) ? hosts - 1 : hosts),
        trees(hosts > 1 ? 2 : 1),
        channels(call.layout->smallest_host),
        depth(whole_depth(call)),
        chunks(pipeline_chunks(call.bytes, steps_after_first_chunk(call) - 1)) {}

  [[nodiscard]] int pieces() const { return trees * channels * chunks; }
  [[nodiscard]] int steps_after_first_chunk(const CollectiveCall& call) const {
    return is_rooted(call) ? depth : 2 * depth;
  }
  // Chains of the longest host are assumed everywhere, so that depths need no walk over hosts.
  [[nodiscard]] int whole_depth(const CollectiveCall& call) const {
    const int chain = call.layout->largest_host - 1;
    if (hosts == 1) return chain;
    return tree_height(tree_hosts) + chain + (is_rooted(call) ? chain + 1 : 0);
  }
};

// Where a member stands in one tree of one channel.
struct Spot {
  int parent = -1;
  std::array<int, 3> children = {-1, -1, -1};  // the next of the chain, and heads of other hosts
  int depth = 0;
};

// A member's host as both trees see it, looked up once for all channels.
class HostView {
 public:
  HostView(const CollectiveCall& call, const Shape& shape, int member)
      : call_(call),
        shape_(shape),
        host_(host_of(call, member)),
        place_(place_of(call, member)),
        size_(host_size(call, host_)),
        root_host_(is_rooted(call) ? host_of(call, call.root) : -1) {
    if (host_ == root_host_) return;
    for (int tree = 0; tree < shape.trees; ++tree) {
      nodes_[static_cast<std::size_t>(tree)] =
          tree_node({.hosts = shape.tree_hosts, .tree = tree, .host = tree_number(host_)});
    }
  }

  [[nodiscard]] Spot spot(int tree, int channel) const {
    const bool at_root = host_ == root_host_;
    const int first = at_root ? place_of(call_, call_.root) : channel;
    const int in_chain = wrap(place_ - first, size_);
    const TreeNode& node = nodes_[static_cast<std::size_t>(tree)];
    Spot spot;
    spot.depth = in_chain;
    if (!at_root) spot.depth += node.depth + (is_rooted(call_) ? call_.layout->largest_host : 0);
    if (in_chain > 0) spot.parent = member_on(call_, host_, wrap(place_ - 1, size_));
    if (in_chain < size_ - 1) spot.children[0] = member_on(call_, host_, wrap(place_ + 1, size_));
    if (place_ == channel && shape_.hosts > 1) join_hosts(node, tree, channel, spot);
    return spot;
  }

 private:
  void join_hosts(const TreeNode& node, int tree, int channel, Spot& spot) const {
    if (host_ == root_host_) {
      spot.children[1] = member_on(call_, host_at(tree_root(shape_.tree_hosts, tree)), channel);
      return;
    }
    if (node.parent >= 0) spot.parent = member_on(call_, host_at(node.parent), channel);
    if (node.parent < 0 && root_host_ >= 0) spot.parent = member_on(call_, root_host_, channel);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (node.children[i] >= 0) spot.children[i + 1] = member_on(call_, host_at(node.children[i]), channel);
    }
  }
  // Hosts are counted from the root's host on, which itself has no number.
  [[nodiscard]] int tree_number(int host) const {
    return root_host_ < 0 ? host : wrap(host - root_host_ - 1, shape_.hosts);
  }
  [[nodiscard]] int host_at(int number) const {
    return root_host_ < 0 ? number : wrap(number + root_host_ + 1, shape_.hosts);
  }

  const CollectiveCall& call_;
  const Shape& shape_;
  int host_;
  int place_;
  int size_;
  int root_host_;
  std::array<TreeNode, 2> nodes_;
};

// Calls visit(peer, reduce, piece) for everything that a member sends in a step, in a fixed order.
template <class Visitor>
void visit_pieces(const CollectiveCall& call, const Shape& shape, int member, int index, Visitor&& visit) {
  const HostView view(call, shape, member);
  for (int tree = 0; tree < shape.trees; ++tree) {
    for (int channel = 0; channel < shape.channels; ++channel) {
      const Spot spot = view.spot(tree, channel);
      const int first_piece = (tree * shape.channels + channel) * shape.chunks;
      const int up = index - (shape.depth - spot.depth);
      if (goes_up(call) && spot.parent >= 0 && up >= 0 && up < shape.chunks) {
        visit(spot.parent, true, first_piece + up);
      }
      const int down = index - spot.depth - (goes_up(call) ? shape.depth : 0);
      if (!goes_down(call) || down < 0 || down >= shape.chunks) continue;
      for (const int child : spot.children) {
        if (child >= 0) visit(child, false, first_piece + down);
      }
    }
  }
}

// All pieces of a step that go to one peer in one direction are one message.
struct Bundle {
  int peer = 0;
  bool reduce = false;
  Bytes size;
};

// At most: the neighbours of the chain, and of each tree the parent, two children or one child of the root's host.
class Bundles {
 public:
  Bundles(const CollectiveCall& call, const Shape& shape, int member, int index) {
    const Cut cut(call.bytes, shape.pieces());
    visit_pieces(call, shape, member, index, [&](int peer, bool reduce, int piece) {
      bundle(peer, reduce).size += cut.size(piece);
    });
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] const Bundle& at(int i) const { return all_[static_cast<std::size_t>(i)]; }

 private:
  Bundle& bundle(int peer, bool reduce) {
    for (int i = 0; i < count_; ++i) {
      Bundle& known = all_[static_cast<std::size_t>(i)];
      if (known.peer == peer && known.reduce == reduce) return known;
    }
    CHECK(count_ < static_cast<int>(all_.size()), "more neighbours than two trees can give");
    Bundle& added = all_[static_cast<std::size_t>(count_++)];
    added = {.peer = peer, .reduce = reduce};
    return added;
  }

  std::array<Bundle, 10> all_;
  int count_ = 0;
};

// The distinct neighbours of a member in all trees and channels.
class Neighbours {
 public:
  Neighbours(const CollectiveCall& call, const Shape& shape, int member) {
    const HostView view(call, shape, member);
    for (int tree = 0; tree < shape.trees; ++tree) {
      for (int channel = 0; channel < shape.channels; ++channel) {
        const Spot spot = view.spot(tree, channel);
        add(spot.parent);
        for (const int child : spot.children) add(child);
      }
    }
  }
  [[nodiscard]] const int* begin() const { return all_.data(); }
  [[nodiscard]] const int* end() const { return all_.data() + count_; }

 private:
  void add(int member) {
    if (member < 0) return;
    for (const int known : *this) {
      if (known == member) return;
    }
    CHECK(count_ < static_cast<int>(all_.size()), "more neighbours than two trees can give");
    all_[static_cast<std::size_t>(count_++)] = member;
  }

  std::array<int, 10> all_{};
  int count_ = 0;
};

class DoubleTree final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "double_tree"; }
  [[nodiscard]] std::string_view help() const override {
    return "double binary tree over hosts, chains inside them, pipelined in chunks (NCCL Tree)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kBroadcast ||
           call.kind == CollectiveKind::kReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    if (call.size() == 1) return 0;
    const Shape shape(call);
    return shape.chunks - 1 + shape.steps_after_first_chunk(call);
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const Shape shape(call);
    const Bundles own(call, shape, member, index);
    for (int i = 0; i < own.count(); ++i) out.sends.push_back({.peer = own.at(i).peer, .size = own.at(i).size});
    for (const int neighbour : Neighbours(call, shape, member)) {
      const Bundles theirs(call, shape, neighbour, index);
      for (int i = 0; i < theirs.count(); ++i) {
        if (theirs.at(i).peer == member) out.awaits.push_back({.peer = neighbour, .send = i});
      }
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return Shape(call).pieces(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const Shape shape(call);
    const Bundle chosen = Bundles(call, shape, member, index).at(send);
    out.pieces.clear();
    out.reduce = chosen.reduce;
    visit_pieces(call, shape, member, index, [&](int peer, bool reduce, int piece) {
      if (peer == chosen.peer && reduce == chosen.reduce) out.pieces.push_back(piece);
    });
  }
};

}  // namespace

const CollectiveAlgorithm& double_tree() {
  static const DoubleTree algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
