// Binomial tree: a broadcast doubles the members with the data in every step, a reduction halves the members that still
// reduce.
//
// ceil(log2 n) (a + S/B); members are counted from the root, and the farthest receives first. (Thakur, Rabenseifner and
// Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005, sections 4.4 and 4.6.)
#include <bit>

#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& binomial();

namespace {

class Binomial final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "binomial"; }
  [[nodiscard]] std::string_view help() const override {
    return "binomial tree of whole buffers: broadcast and reduce in log2 n steps (MPICH, short messages)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kBroadcast || call.kind == CollectiveKind::kReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(call.size() - 1)));
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const bool down = call.kind == CollectiveKind::kBroadcast;
    const int n = call.size();
    const int distance = 1 << (down ? steps(call) - 1 - index : index);
    const int place = wrap(member - call.root, n);
    const bool parent = place % (2 * distance) == 0 && place + distance < n;
    const bool child = place % (2 * distance) == distance;
    if (!parent && !child) return;
    const int other = wrap(parent ? member + distance : member - distance, n);
    if (parent == down) {
      out.sends.push_back({.peer = other, .size = call.bytes});
    } else {
      out.awaits.push_back({.peer = other, .send = 0});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int) const override { return call.bytes; }
  void contents(const CollectiveCall& call, int, int, int, SendContents& out) const override {
    out.pieces.assign(1, 0);
    out.reduce = call.kind == CollectiveKind::kReduce;
  }
};

}  // namespace

const CollectiveAlgorithm& binomial() {
  static const Binomial algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
