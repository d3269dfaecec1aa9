// CollNet: hosts reduce inside, network switches reduce the hosts' sums and send the results to all hosts.
//
// All-reduce of k hosts with p members each, one on every rail; the member at position h of its host is the head of one
// p-th of the data. collnet_direct: all members of a host send their parts to the heads, the heads send sums up to the
// switches, receive the results and broadcast them: p - 1 messages of S/p in, S/p up and down on every NIC, p - 1 of
// S/p out. collnet_chain: a chain through the host for each head adds part by part, and brings the result back. Chunks
// follow each other in lock step, C + 3 and C + 2 (p - 1) + 1 steps. (NCCL 2.19 to 2.27, src/device/all_reduce.h,
// CollNetDirect and CollNetChain; in the switches SHARP's streaming aggregation: Graham et al., ISC High Performance
// 2020.)
#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "core/base/index.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& collnet_direct();
const CollectiveAlgorithm& collnet_chain();

namespace {

enum class Inside { kDirect, kChain };

// One message of one chunk: the head's part.
struct CollnetMessage {
  int peer = 0;
  RouteKind route_kind = RouteKind::kWhole;
  bool reduce = false;
  int head = 0;  // position
  int chunk = 0;
};

struct CollnetShape {
  CollnetShape(const CollectiveCall& call, Inside of_host)
      : layout(*call.layout),
        heads(layout.largest_host),
        hops(of_host == Inside::kDirect ? 1 : heads - 1),
        chunks(pipeline_chunks(call.bytes, 2 * hops + 1)) {}

  [[nodiscard]] int steps() const { return chunks + 2 * hops + 1; }
  [[nodiscard]] bool in_range(int chunk) const { return chunk >= 0 && chunk < chunks; }
  [[nodiscard]] int place(int member) const { return layout.place_in_host[at(member)]; }
  [[nodiscard]] int neighbor(int member, int at_place) const {
    return layout.hosts[at(layout.host_of[at(member)])][at(wrap(at_place, heads))];
  }
  // On another host: the shared switch is in the network.
  [[nodiscard]] int across(int member) const {
    return layout.hosts[at(wrap(layout.host_of[at(member)] + 1, layout.host_count()))][at(place(member))];
  }
  [[nodiscard]] int piece(int chunk, int head) const { return chunk * heads + head; }

  const GroupLayout& layout;
  int heads;
  int hops;  // inside a host, to the head
  int chunks;
};

void add_direct(const CollnetShape& shape, int member, int index, std::vector<CollnetMessage>& out) {
  const int own = shape.place(member);
  for (const bool reduce : {true, false}) {
    const int chunk = reduce ? index : index - 3;
    if (!shape.in_range(chunk)) continue;
    for (int away = 1; away < shape.heads; ++away) {
      const int other = wrap(own + away, shape.heads);
      out.push_back(
          {.peer = shape.neighbor(member, other), .reduce = reduce, .head = reduce ? other : own, .chunk = chunk});
    }
  }
}

// The chain of head h begins at position h + 1 and ends at h; results travel in reverse.
void add_chain(const CollnetShape& shape, int member, int index, std::vector<CollnetMessage>& out) {
  const int own = shape.place(member);
  for (int hop = 0; hop < shape.hops; ++hop) {
    if (const int chunk = index - hop; shape.in_range(chunk)) {
      out.push_back({.peer = shape.neighbor(member, own + 1),
                     .reduce = true,
                     .head = wrap(own - 1 - hop, shape.heads),
                     .chunk = chunk});
    }
    if (const int chunk = index - shape.hops - 2 - hop; shape.in_range(chunk)) {
      out.push_back({.peer = shape.neighbor(member, own - 1), .head = wrap(own + hop, shape.heads), .chunk = chunk});
    }
  }
}

class Collnet final : public CollectiveAlgorithm {
 public:
  explicit Collnet(Inside inside) : inside_(inside) {}

  [[nodiscard]] std::string_view name() const override {
    return inside_ == Inside::kDirect ? "collnet_direct" : "collnet_chain";
  }
  [[nodiscard]] std::string_view help() const override {
    return inside_ == Inside::kDirect
               ? "hosts reduce, each GPU its part; network switches reduce over hosts (NCCL CollNetDirect)"
               : "chains reduce inside hosts; network switches reduce over hosts (NCCL CollNetChain)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const GroupLayout& layout = *call.layout;
    return call.kind == CollectiveKind::kAllReduce && layout.even() && layout.host_count() > 1 &&
           layout.largest_host > 1;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return CollnetShape(call, inside_).steps(); }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    out.await_everyone = true;  // the switches need all contributions of a chunk before it is read
    const Cut cut(call.bytes, pieces(call));
    const CollnetShape shape(call, inside_);
    for (const CollnetMessage& message : messages(shape, member, index)) {
      out.sends.push_back({.peer = message.peer,
                           .size = cut.size(shape.piece(message.chunk, message.head)),
                           .route_kind = message.route_kind});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    const CollnetShape shape(call, inside_);
    return shape.chunks * shape.heads;
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const CollnetShape shape(call, inside_);
    const CollnetMessage message = messages(shape, member, index)[at(send)];
    out.pieces.assign(1, shape.piece(message.chunk, message.head));
    out.reduce = message.reduce;
  }

 private:
  [[nodiscard]] std::vector<CollnetMessage> messages(const CollnetShape& shape, int member, int index) const {
    std::vector<CollnetMessage> out;
    const int own = shape.place(member);
    if (const int chunk = index - shape.hops; shape.in_range(chunk)) {
      out.push_back({.peer = shape.across(member),
                     .route_kind = RouteKind::kUpToSwitch,
                     .reduce = true,
                     .head = own,
                     .chunk = chunk});
    }
    if (const int chunk = index - shape.hops - 1; shape.in_range(chunk)) {
      out.push_back(
          {.peer = shape.across(member), .route_kind = RouteKind::kDownFromSwitch, .head = own, .chunk = chunk});
    }
    if (inside_ == Inside::kDirect) add_direct(shape, member, index, out);
    if (inside_ == Inside::kChain) add_chain(shape, member, index, out);
    return out;
  }

  Inside inside_;
};

}  // namespace

const CollectiveAlgorithm& collnet_direct() {
  static const Collnet algorithm(Inside::kDirect);
  return algorithm;
}

const CollectiveAlgorithm& collnet_chain() {
  static const Collnet algorithm(Inside::kChain);
  return algorithm;
}

}  // namespace ringwright::collectives
