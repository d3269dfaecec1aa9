// Scatter and all-gather: a broadcast that first cuts the buffer up among the members (van de Geijn), and its mirror
// image, a reduction by reduce-scatter and gather (Rabenseifner).
//
// Broadcast: binomial scatter, then recursive doubling (powers of two; name scatter_allgather) or a ring (any number;
// name scatter_ring): log2 n a or (log2 n + n - 1) a, + 2 (n-1)/n S/B. Reduce: recursive halving, then a binomial
// gather, powers of two only: 2 log2 n a + 2 (n-1)/n S/B. (Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005, sections 4.4 and 4.6.)
#include <algorithm>
#include <bit>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/power_core.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& scatter_allgather();
const CollectiveAlgorithm& scatter_ring();

namespace {

// Pieces are numbered by position, members counted from the root.
struct Run {
  int first = 0;
  int count = 0;
};

// A member's step: it sends a run of pieces to one position, and awaits the message of another.
struct Turn {
  int to = -1;
  Run sent;
  int from = -1;
};

enum class Gathering { kDoubling, kRing };

int levels_of(int members) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(members - 1)));
}

// Down a binomial tree of n positions, the farthest first: whoever holds a run passes its upper half on.
Turn scatter_turn(int n, int place, int distance) {
  if (place % (2 * distance) == distance) return {.from = place - distance};
  if (place % (2 * distance) != 0 || place + distance >= n) return {};
  return {.to = place + distance,
          .sent = {.first = place + distance, .count = std::min(distance, n - place - distance)}};
}
// In reverse.
Turn gather_turn(int n, int place, int distance) {
  if (place % (2 * distance) == 0) return {.from = place + distance < n ? place + distance : -1};
  if (place % (2 * distance) != distance) return {};
  return {.to = place - distance, .sent = {.first = place, .count = std::min(distance, n - place)}};
}
Run block_of(int place, int size) {
  return {.first = place / size * size, .count = size};
}

class ScatterAllGather final : public CollectiveAlgorithm {
 public:
  explicit ScatterAllGather(Gathering gathering) : gathering_(gathering) {}

  [[nodiscard]] std::string_view name() const override {
    return gathering_ == Gathering::kRing ? "scatter_ring" : "scatter_allgather";
  }
  [[nodiscard]] std::string_view help() const override {
    return gathering_ == Gathering::kRing
               ? "broadcast: binomial scatter, then a ring gathers (van de Geijn; MPICH, very long messages)"
               : "broadcast: binomial scatter and recursive doubling; reduce: halving and gather (Rabenseifner)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    if (gathering_ == Gathering::kRing) return call.kind == CollectiveKind::kBroadcast;
    const bool rooted = call.kind == CollectiveKind::kBroadcast || call.kind == CollectiveKind::kReduce;
    return rooted && PowerCore(call.size()).excess == 0;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const int levels = levels_of(call.size());
    return gathering_ == Gathering::kRing ? levels + call.size() - 1 : 2 * levels;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const Turn turn = turn_of(call, wrap(member - call.root, n), index);
    if (turn.to >= 0) out.sends.push_back({.peer = wrap(turn.to + call.root, n), .size = size(call, turn.sent)});
    if (turn.from >= 0) out.awaits.push_back({.peer = wrap(turn.from + call.root, n), .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    const Run sent = turn_of(call, wrap(member - call.root, call.size()), index).sent;
    out.pieces.clear();
    for (int i = 0; i < sent.count; ++i) out.pieces.push_back(sent.first + i);
    out.reduce = call.kind == CollectiveKind::kReduce && index < levels_of(call.size());
  }

 private:
  static Bytes size(const CollectiveCall& call, const Run& run) {
    return Cut(call.bytes, call.size()).run(run.first, run.count);
  }

  [[nodiscard]] Turn turn_of(const CollectiveCall& call, int place, int index) const {
    const int n = call.size();
    const int levels = levels_of(n);
    if (call.kind == CollectiveKind::kReduce) {
      if (index >= levels) return gather_turn(n, place, 1 << (index - levels));
      const int distance = n >> (index + 1);
      const int partner = place ^ distance;
      return {.to = partner, .sent = block_of(partner, distance), .from = partner};
    }
    if (index < levels) return scatter_turn(n, place, 1 << (levels - 1 - index));
    const int round = index - levels;
    if (gathering_ == Gathering::kRing) {
      return {
          .to = wrap(place + 1, n), .sent = {.first = wrap(place - round, n), .count = 1}, .from = wrap(place - 1, n)};
    }
    const int partner = place ^ (1 << round);
    return {.to = partner, .sent = block_of(place, 1 << round), .from = partner};
  }

  Gathering gathering_;
};

}  // namespace

const CollectiveAlgorithm& scatter_allgather() {
  static const ScatterAllGather algorithm(Gathering::kDoubling);
  return algorithm;
}

const CollectiveAlgorithm& scatter_ring() {
  static const ScatterAllGather algorithm(Gathering::kRing);
  return algorithm;
}

}  // namespace ringwright::collectives
