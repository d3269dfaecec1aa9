// NVLS tree: the hosts' NVSwitches reduce, double binary trees over hosts carry each GPU's share, the switches
// multicast.
//
// NCCL's NVLSTree all-reduce: GPU j of every host is the head of one p-th of the data; per chunk the head takes its
// share, summed, from the switch (S up, S/p down per GPU), each half of it goes up and down one of two trees over the
// GPUs at the same position of all hosts, and the head multicasts it to the host (S/p up, S down). Bytes on a GPU's
// NIC: at most 2 S/p per direction, as in a double tree. With C chunks and trees of height H everything is one pipeline
// of C + 2 H + 3 steps in lock step.
#include <array>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/host_tree.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr int kTrees = 2;
constexpr int kMostSends = 4 + 3 * kTrees;

struct NvlsTreeShape {
  int heads = 1;   // p
  int height = 0;  // H
  int chunks = 1;

  explicit NvlsTreeShape(const CollectiveCall& call)
      : heads(call.layout->largest_host),
        height(tree_height(call.layout->host_count())),
        chunks(pipeline_chunks(call.bytes, 2 * height + 3)) {}
  [[nodiscard]] int pieces() const { return chunks * heads * kTrees; }
  [[nodiscard]] bool in_range(int chunk) const { return chunk >= 0 && chunk < chunks; }
};

// One message: consecutive pieces, because a chunk's pieces follow each other by head, then by tree.
struct Message {
  int peer = 0;
  RouteKind route_kind = RouteKind::kWhole;
  bool reduce = false;
  int first_piece = 0;
  int piece_count = 0;
};

struct Messages {
  std::array<Message, kMostSends> all;
  int count = 0;

  void add(const Message& message) { all[static_cast<std::size_t>(count++)] = message; }
};

// What the head's trees carry: up while the sum grows, down when it is complete.
void add_tree_messages(const CollectiveCall& call, const NvlsTreeShape& shape, int member, int index, Messages& out) {
  const int place = place_of(call, member);
  for (int tree = 0; tree < kTrees; ++tree) {
    const TreeNode node =
        tree_node({.hosts = call.layout->host_count(), .tree = tree, .host = host_of(call, member)});
    // Leaves of all depths start so that their chunks reach the root together in step chunk + 2 + height.
    const int up = index - 2 - (shape.height - node.depth);
    if (shape.in_range(up) && node.parent >= 0) {
      out.add({.peer = member_on(call, node.parent, place),
               .reduce = true,
               .first_piece = (up * shape.heads + place) * kTrees + tree,
               .piece_count = 1});
    }
    const int down = index - 2 - shape.height - node.depth;
    for (const int child : node.children) {
      if (!shape.in_range(down) || child < 0) continue;
      out.add({.peer = member_on(call, child, place),
               .first_piece = (down * shape.heads + place) * kTrees + tree,
               .piece_count = 1});
    }
  }
}

Messages messages_of(const CollectiveCall& call, int member, int index) {
  const NvlsTreeShape shape(call);
  const int place = place_of(call, member);
  const int neighbour = member_on(call, host_of(call, member), wrap(place + 1, shape.heads));
  const int of_chunk = shape.heads * kTrees;
  Messages out;
  const auto talk_to_switch = [&](int chunk, const Message& all_or_own) {
    if (!shape.in_range(chunk)) return;
    Message message = all_or_own;
    message.peer = neighbour;
    message.first_piece += chunk * of_chunk;
    out.add(message);
  };
  const Message all{.piece_count = of_chunk};
  const Message own{.first_piece = place * kTrees, .piece_count = kTrees};
  const auto directed = [](Message message, RouteKind route_kind, bool reduce) {
    message.route_kind = route_kind;
    message.reduce = reduce;
    return message;
  };
  talk_to_switch(index, directed(all, RouteKind::kUpToSwitch, true));
  talk_to_switch(index - 1, directed(own, RouteKind::kDownFromSwitch, false));
  add_tree_messages(call, shape, member, index, out);
  talk_to_switch(index - 2 - 2 * shape.height, directed(own, RouteKind::kUpToSwitch, false));
  talk_to_switch(index - 3 - 2 * shape.height, directed(all, RouteKind::kDownFromSwitch, false));
  return out;
}

class NvlsTree final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "nvls_tree"; }
  [[nodiscard]] std::string_view help() const override {
    return "NVSwitches of the hosts reduce and multicast, double binary trees connect the hosts (NCCL NVLSTree)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce && call.layout->even() && call.layout->host_count() > 1 &&
           call.layout->largest_host > 1;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const NvlsTreeShape shape(call);
    return shape.chunks + 2 * shape.height + 3;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    out.await_everyone = true;  // the switches need all contributions of a chunk before it is read
    const Cut cut(call.bytes, pieces(call));
    const Messages messages = messages_of(call, member, index);
    for (int i = 0; i < messages.count; ++i) {
      const Message& message = messages.all[static_cast<std::size_t>(i)];
      out.sends.push_back({.peer = message.peer,
                           .size = cut.run(message.first_piece, message.piece_count),
                           .route_kind = message.route_kind});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return NvlsTreeShape(call).pieces(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const Message message = messages_of(call, member, index).all[static_cast<std::size_t>(send)];
    out.pieces.clear();
    for (int i = 0; i < message.piece_count; ++i) out.pieces.push_back(message.first_piece + i);
    out.reduce = message.reduce;
  }
};

}  // namespace

const CollectiveAlgorithm& nvls_tree() {
  static const NvlsTree algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
