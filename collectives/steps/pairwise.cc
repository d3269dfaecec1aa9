// Pairwise exchange: all-to-all in n - 1 steps; in step k everyone sends to the member k + 1 positions ahead.
//
// Time without sharing: (n-1) (a + S / (n B)) (Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005, long messages).
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

class Pairwise final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pairwise"; }
  [[nodiscard]] std::string_view help() const override {
    return "all-to-all in n - 1 shifted steps, one peer at a time (MPICH, long messages)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllToAll;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() - 1; }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const int peer = wrap(member + index + 1, n);
    out.sends.push_back({.peer = peer, .size = Cut(call.bytes, n).size(peer)});
    out.awaits.push_back({.peer = wrap(member - index - 1, n), .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size() * call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece % call.size());
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    const int n = call.size();
    out.pieces.assign(1, member * n + wrap(member + index + 1, n));
    out.reduce = false;
  }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return Cut(call.bytes, call.size()).even();
  }
};

}  // namespace

const CollectiveAlgorithm& pairwise() {
  static const Pairwise algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
