// All pairs: every member sends to every other at once, in two phases (reduce-scatter, then all-gather) or in one.
//
// All-reduce of n members inside a host, without sharing: two phases take 2 (a + (n-1)/n S / B), where B is what a
// member sends to all others together; one phase (name all_pairs_once) sends whole buffers and takes a + (n-1) S / B.
// They are 2PA and 1PA of MSCCL++ (Shah et al., arXiv 2504.09014), and oneCCL's `nreduce` is the former: few latencies
// and many messages.
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& all_pairs();
const CollectiveAlgorithm& all_pairs_once();

namespace {

enum class PairPhases { kOne, kTwo };

class AllPairs final : public CollectiveAlgorithm {
 public:
  explicit AllPairs(PairPhases phases) : phases_(phases) {}

  [[nodiscard]] std::string_view name() const override { return once() ? "all_pairs_once" : "all_pairs"; }
  [[nodiscard]] std::string_view help() const override {
    return once() ? "every member sends its buffer to every other, who add (MSCCL++'s 1PA)"
                  : "reduce-scatter and all-gather, each with messages to all others at once (MSCCL++'s 2PA)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    if (call.size() == 1) return 0;
    return once() ? 1 : 2;
  }

  // Send i goes to the member i + 1 positions ahead, so that no receiver is at the same index of all lists.
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const Cut cut(call.bytes, n);
    for (int distance = 1; distance < n; ++distance) {
      const int peer = wrap(member + distance, n);
      out.sends.push_back({.peer = peer, .size = once() ? call.bytes : cut.size(index == 0 ? peer : member)});
      out.awaits.push_back({.peer = wrap(member - distance, n), .send = distance - 1});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return once() ? 1 : call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const int peer = wrap(member + send + 1, call.size());
    out.pieces.assign(1, once() ? 0 : index == 0 ? peer : member);
    out.reduce = index == 0;
  }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return once() || Cut(call.bytes, call.size()).even();
  }

 private:
  [[nodiscard]] bool once() const { return phases_ == PairPhases::kOne; }

  PairPhases phases_;
};

}  // namespace

const CollectiveAlgorithm& all_pairs() {
  static const AllPairs algorithm(PairPhases::kTwo);
  return algorithm;
}

const CollectiveAlgorithm& all_pairs_once() {
  static const AllPairs algorithm(PairPhases::kOne);
  return algorithm;
}

}  // namespace ringwright::collectives
