// Direct: everyone sends to everyone at once, in one step that is left to the network.
//
// Time without sharing: a + S / (n B) for all-to-all, all-gather and reduce-scatter (each message is one n-th of the
// buffer). Total bytes per member are those of the ring, S (n-1) / n.
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

class Direct final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "direct"; }
  [[nodiscard]] std::string_view help() const override {
    return "every member sends to every other at once (all-to-all as grouped sends and receives)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllToAll || call.kind == CollectiveKind::kAllGather ||
           call.kind == CollectiveKind::kReduceScatter;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() > 1 ? 1 : 0; }

  // Send i goes to the member i + 1 positions ahead, so that no receiver is at the same index of all lists.
  void step(const CollectiveCall& call, int member, int, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const Cut cut(call.bytes, n);
    for (int distance = 1; distance < n; ++distance) {
      const int peer = wrap(member + distance, n);
      const int owner = call.kind == CollectiveKind::kAllGather ? member : peer;
      out.sends.push_back({.peer = peer, .size = cut.size(owner)});
      out.awaits.push_back({.peer = wrap(member - distance, n), .send = distance - 1});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllToAll ? call.size() * call.size() : call.size();
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece % call.size());
  }
  void contents(const CollectiveCall& call, int member, int, int send, SendContents& out) const override {
    const int n = call.size();
    const int peer = wrap(member + send + 1, n);
    const bool gather = call.kind == CollectiveKind::kAllGather;
    out.pieces.assign(1, call.kind == CollectiveKind::kAllToAll ? member * n + peer : gather ? member : peer);
    out.reduce = call.kind == CollectiveKind::kReduceScatter;
  }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return Cut(call.bytes, call.size()).even();
  }
};

}  // namespace

const CollectiveAlgorithm& direct() {
  static const Direct algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
