// Double tree: half of the data goes up and down each of two trees over hosts, with a chain through every host.
//
// As in NCCL: chains inside hosts, a double binary tree over the chains' heads, one such pair of trees per GPU position
// (channel), so that every NIC carries its share. Broadcast and reduce put the root's host above both trees of the
// other hosts (Sanders, Speck and Traff 2009); NCCL itself uses rings there.
// A member at depth d of a tree of depth D sends chunk c up in step c + D - d and down in step c + D + d: C chunks take
// C - 1 + 2 D steps, in one direction C - 1 + D. With N hosts of one member, D = ceil(log2 N), and without sharing
// all-reduce takes (C - 1 + 2 D) (a + S / (2 C B)), unless a pair is connected in both trees (N = 3). In a host of n
// members D = n - 1. The sends of several channels to one neighbour in a step form one message.
#include <array>
#include <cstddef>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/host_tree.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "collectives/steps/piece_messages.h"
#include "core/base/check.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

bool is_rooted(const CollectiveCall& call) { return call.kind != CollectiveKind::kAllReduce; }
bool goes_up(const CollectiveCall& call) { return call.kind != CollectiveKind::kBroadcast; }
bool goes_down(const CollectiveCall& call) { return call.kind != CollectiveKind::kReduce; }

// Properties shared by all members.
struct Shape {
  int hosts;
  int tree_hosts;  // a root's host is above the trees, not in them
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
  // The chain length of the largest host is assumed everywhere, so that depths need no loop over hosts.
  [[nodiscard]] int whole_depth(const CollectiveCall& call) const {
    const int chain = call.layout->largest_host - 1;
    if (hosts == 1) return chain;
    return tree_height(tree_hosts) + chain + (is_rooted(call) ? chain + 1 : 0);
  }
};

// One tree of one channel, along whose chains pieces move.
struct TreeChannel {
  int tree = 0;
  int channel = 0;
};

// The pieces that leave a member in a step on one queue; -1 for none.
struct Moving {
  int up = -1;
  int down = -1;
};

// A member's position in both trees of all channels; its host's nodes are looked up once.
class View {
 public:
  View(const CollectiveCall& call, const Shape& shape, int member)
      : call_(call),
        shape_(shape),
        member_(member),
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

  [[nodiscard]] const CollectiveCall& call() const { return call_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int member() const { return member_; }
  // The same step from another member's view.
  [[nodiscard]] View of(int other) const { return {call_, shape_, other}; }

  [[nodiscard]] Moving moving(const TreeChannel& chain, int index) const {
    const int here = depth(chain);
    const int first = (chain.tree * shape_.channels + chain.channel) * shape_.chunks;
    const int up = index - (shape_.depth - here);
    const int down = index - here - (goes_up(call_) ? shape_.depth : 0);
    Moving pieces;
    if (goes_up(call_) && up >= 0 && up < shape_.chunks) pieces.up = first + up;
    if (goes_down(call_) && down >= 0 && down < shape_.chunks) pieces.down = first + down;
    return pieces;
  }
  [[nodiscard]] int chain_parent(int channel) const { return in_chain(channel) > 0 ? neighbor(-1) : -1; }
  [[nodiscard]] int chain_child(int channel) const { return in_chain(channel) < size_ - 1 ? neighbor(1) : -1; }
  // The member at the other end of a chain's link, possibly around the host.
  [[nodiscard]] int neighbor(int distance) const { return member_on(call_, host_, wrap(place_ + distance, size_)); }
  [[nodiscard]] int host_members() const { return size_; }

  // The channel in which this member talks to other hosts; -1 for none.
  [[nodiscard]] int network_channel() const { return shape_.hosts > 1 && place_ < shape_.channels ? place_ : -1; }
  // The members of other hosts above and below in that channel.
  [[nodiscard]] TreeNode network_node(int tree) const {
    if (host_ == root_host_) return {.children = {on_host(tree_root(shape_.tree_hosts, tree)), -1}};
    TreeNode node = nodes_[static_cast<std::size_t>(tree)];
    if (node.parent >= 0) node.parent = on_host(node.parent);
    else if (root_host_ >= 0) node.parent = member_on(call_, root_host_, place_);
    for (int& child : node.children) {
      if (child >= 0) child = on_host(child);
    }
    return node;
  }

 private:
  // A chain starts at the head of its channel, in the root's host at the root.
  [[nodiscard]] int in_chain(int channel) const {
    return wrap(place_ - (host_ == root_host_ ? place_of(call_, call_.root) : channel), size_);
  }
  [[nodiscard]] int depth(const TreeChannel& chain) const {
    if (host_ == root_host_) return in_chain(chain.channel);
    const int above = is_rooted(call_) ? call_.layout->largest_host : 0;
    return above + nodes_[static_cast<std::size_t>(chain.tree)].depth + in_chain(chain.channel);
  }
  // Hosts are counted from the root's host, which itself has no number.
  [[nodiscard]] int tree_number(int host) const {
    return root_host_ < 0 ? host : wrap(host - root_host_ - 1, shape_.hosts);
  }
  [[nodiscard]] int on_host(int tree_number) const {
    const int host = root_host_ < 0 ? tree_number : wrap(tree_number + root_host_ + 1, shape_.hosts);
    return member_on(call_, host, place_);
  }

  const CollectiveCall& call_;
  const Shape& shape_;
  int member_;
  int host_;
  int place_;
  int size_;
  int root_host_;
  std::array<TreeNode, 2> nodes_;
};

// Calls visit(peer, reduce, piece) for a member's sends to other hosts in a step, in a fixed order.
template <class Visitor>
void visit_network(const View& view, int index, Visitor&& visit) {
  const int channel = view.network_channel();
  for (int tree = 0; channel >= 0 && tree < view.shape().trees; ++tree) {
    const Moving pieces = view.moving({.tree = tree, .channel = channel}, index);
    if (pieces.up < 0 && pieces.down < 0) continue;
    const TreeNode node = view.network_node(tree);
    if (pieces.up >= 0 && node.parent >= 0) visit(node.parent, true, pieces.up);
    for (const int child : node.children) {
      if (pieces.down >= 0 && child >= 0) visit(child, false, pieces.down);
    }
  }
}

// The same for its sends along the chains of its host.
template <class Visitor>
void visit_chains(const View& view, int index, Visitor&& visit) {
  if (view.host_members() == 1) return;
  for (int tree = 0; tree < view.shape().trees; ++tree) {
    for (int channel = 0; channel < view.shape().channels; ++channel) {
      const Moving pieces = view.moving({.tree = tree, .channel = channel}, index);
      const int parent = view.chain_parent(channel);
      const int child = view.chain_child(channel);
      if (pieces.up >= 0 && parent >= 0) visit(parent, true, pieces.up);
      if (pieces.down >= 0 && child >= 0) visit(child, false, pieces.down);
    }
  }
}

// All pieces of a step that go to one peer in one direction are one message.
struct Bundle {
  int peer = 0;
  bool reduce = false;
  Bytes size;
};

enum class Extent { kNetwork, kNetworkAndChains };

// A member's sends in a step. Messages to other hosts come first, so that receivers find their index in the list
// without the chains.
class Bundles {
 public:
  Bundles(const View& view, int index, Extent extent) {
    const Cut cut(view.call().bytes, view.shape().pieces());
    const auto pack = [&](int peer, bool reduce, int piece) { bundle(peer, reduce).size += cut.size(piece); };
    visit_network(view, index, pack);
    if (extent == Extent::kNetworkAndChains) visit_chains(view, index, pack);
  }
  [[nodiscard]] const Bundle& at(int i) const { return all_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Bundle* begin() const { return all_.data(); }
  [[nodiscard]] const Bundle* end() const { return all_.data() + count_; }

 private:
  Bundle& bundle(int peer, bool reduce) {
    for (int i = 0; i < count_; ++i) {
      Bundle& known = all_[static_cast<std::size_t>(i)];
      if (known.peer == peer && known.reduce == reduce) return known;
    }
    // Two neighbours in the chain, and of each tree a parent and two children.
    CHECK(count_ < static_cast<int>(all_.size()), "more messages than two trees can produce");
    Bundle& added = all_[static_cast<std::size_t>(count_++)];
    added = {.peer = peer, .reduce = reduce, .size = Bytes(0)};
    return added;
  }

  std::array<Bundle, 10> all_;
  int count_ = 0;
};

// Awaits all messages from `peer` to `member` in this step.
void await_from(const View& peer, int index, Extent extent, int member, CollectiveStep& out) {
  await_messages(Bundles(peer, index, extent), {.from = peer.member(), .to = member}, out);
}

// A peer may be a neighbour in both trees; it is visited once.
void await_network(const View& view, int index, CollectiveStep& out) {
  std::array<int, 6> asked{};
  int asked_count = 0;
  const auto ask = [&](int peer) {
    if (peer < 0) return;
    for (int i = 0; i < asked_count; ++i) {
      if (asked[static_cast<std::size_t>(i)] == peer) return;
    }
    asked[static_cast<std::size_t>(asked_count++)] = peer;
    await_from(view.of(peer), index, Extent::kNetwork, view.member(), out);
  };
  if (view.network_channel() < 0) return;
  for (int tree = 0; tree < view.shape().trees; ++tree) {
    const TreeNode node = view.network_node(tree);
    ask(node.parent);
    for (const int child : node.children) ask(child);
  }
}

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
    const View view(call, shape, member);
    for (const Bundle& own : Bundles(view, index, Extent::kNetworkAndChains)) {
      out.sends.push_back({.peer = own.peer, .size = own.size});
    }
    await_network(view, index, out);
    if (view.host_members() == 1) return;
    const int before = view.neighbor(-1);
    const int after = view.neighbor(1);
    await_from(view.of(before), index, Extent::kNetworkAndChains, member, out);
    if (after != before) await_from(view.of(after), index, Extent::kNetworkAndChains, member, out);
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return Shape(call).pieces(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const Shape shape(call);
    const View view(call, shape, member);
    const Bundle chosen = Bundles(view, index, Extent::kNetworkAndChains).at(send);
    out.pieces.clear();
    out.reduce = chosen.reduce;
    const auto keep = [&](int peer, bool reduce, int piece) {
      if (peer == chosen.peer && reduce == chosen.reduce) out.pieces.push_back(piece);
    };
    visit_network(view, index, keep);
    visit_chains(view, index, keep);
  }
};

}  // namespace

const CollectiveAlgorithm& double_tree() {
  static const DoubleTree algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
