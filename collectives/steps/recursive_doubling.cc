// Recursive doubling: partners at distance 1, 2, 4, ... exchange all their data.
//
// All-gather with S/n, 2 S/n, ...: log2 n a + (n-1)/n S/B; reduce-scatter runs in reverse, from far to near (recursive
// halving). All-reduce swaps whole buffers, log2 n (a + S/B), members beyond a power of two are folded in first and get
// the result last. (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 2005, sections 4.1, 4.2 and 4.5.)
#include "collectives/steps/butterfly.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& recursive_doubling();

namespace {

class RecursiveDoubling final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "recursive_doubling"; }
  [[nodiscard]] std::string_view help() const override {
    return "partners at distance 1, 2, 4, ...; all-reduce with whole buffers (MPI's recursive doubling and halving)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    if (call.kind == CollectiveKind::kAllReduce) return true;
    return (call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kReduceScatter) &&
           is_power_of_two(call);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    if (!whole(call)) return halving(call).steps();
    const PowerCore core(call.size());
    return core.levels + (core.excess > 0 ? 2 : 0);
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    if (!whole(call)) return halving(call).step(member, index, out);
    const PowerCore core(call.size());
    const int round = core.excess > 0 ? index - 1 : index;
    if (round < 0 || round == core.levels) {
      if (core.paired(member)) exchange_in_pair(call, member, round < 0 ? FoldStep::kIn : FoldStep::kBack, out);
      return;
    }
    const int number = core.number(member);
    if (number < 0) return;
    const int partner = core.member(Pairings(Pairings::Pattern::kNearestFirst, core.size).partner(number, round));
    out.sends.push_back({.peer = partner, .size = call.bytes});
    out.awaits.push_back({.peer = partner, .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return whole(call) ? 1 : call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    if (!whole(call)) return halving(call).contents(member, index, out);
    const PowerCore core(call.size());
    out.pieces.assign(1, 0);
    out.reduce = core.excess == 0 || index <= core.levels;
  }

 private:
  static bool whole(const CollectiveCall& call) { return call.kind == CollectiveKind::kAllReduce; }
  static HalvingButterfly halving(const CollectiveCall& call) { return {Pairings::Pattern::kFarthestFirst, call}; }
};

}  // namespace

const CollectiveAlgorithm& recursive_doubling() {
  static const RecursiveDoubling algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
