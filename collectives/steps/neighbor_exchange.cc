// Neighbour exchange: all-gather in n / 2 steps among an even number of members, with the two neighbours alternately.
//
// The first step swaps own pieces in pairs; each later one swaps, with the neighbour on the other side, the pair of
// pieces that arrived last: n/2 a + (n-1)/n S/B. (Chen, Zhang and Yuan, "Performance evaluation of allgather algorithms
// on terascale Linux cluster with fast Ethernet", HPC Asia 2005; MPI's "neighbor exchange".)
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& neighbor_exchange();

namespace {

class NeighborExchange final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "neighbor_exchange"; }
  [[nodiscard]] std::string_view help() const override {
    return "all-gather among an even number of members, with both neighbours alternately (MPI's neighbor exchange)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllGather && (call.size() % 2 == 0 || call.size() == 1);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() / 2; }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int side = (member % 2 == 0) == (index % 2 == 0) ? 1 : -1;
    const int partner = wrap(member + side, call.size());
    const Cut cut(call.bytes, call.size());
    const int first = first_piece(call, member, index);
    out.sends.push_back({.peer = partner, .size = index == 0 ? cut.size(first) : cut.run(first, 2)});
    out.awaits.push_back({.peer = partner, .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    const int first = first_piece(call, member, index);
    out.pieces.assign(1, first);
    if (index > 0) out.pieces.push_back(first + 1);
    out.reduce = false;
  }

 private:
  // Pairs arrive alternately from both sides, each from one pair farther away.
  static int first_piece(const CollectiveCall& call, int member, int index) {
    if (index == 0) return member;
    const int away = index % 2 == 1 ? (index - 1) / 2 : -index / 2;
    return 2 * wrap(member / 2 + (member % 2 == 0 ? away : -away), call.size() / 2);
  }
};

}  // namespace

const CollectiveAlgorithm& neighbor_exchange() {
  static const NeighborExchange algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
