// Scattered exchange: everyone sends to a part of the others at once, and to the next part when these have arrived.
//
// All-to-all in K steps, where K keeps the messages in flight among n members to those of 256 who all send to all; NCCL
// has up to 256 of a rank's messages at work too (8 on each of 32 channels). In step k a member sends to those at
// distances k + 1, k + 1 + K, k + 1 + 2 K, ... ahead, so that links inside and between hosts are loaded in every step.
// Time without sharing: K a + S / B (MPICH's "scattered" all-to-all, MPIR_Alltoall_intra_scattered, which sends in
// blocks as well).
#include <algorithm>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr int kMessagesInFlight = 256 * 256;
constexpr int kLeastAtOnce = 8;

class Scattered final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "scattered"; }
  [[nodiscard]] std::string_view help() const override {
    return "all-to-all, as many peers at once as keep 65,536 messages in flight (MPICH's scattered)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllToAll;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const int peers = call.size() - 1;
    if (peers == 0) return 0;
    const int at_once = std::max(kLeastAtOnce, kMessagesInFlight / call.size());
    return (peers + at_once - 1) / at_once;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const int stride = steps(call);
    const Cut cut(call.bytes, n);
    for (int distance = index + 1; distance < n; distance += stride) {
      const int peer = wrap(member + distance, n);
      out.sends.push_back({.peer = peer, .size = cut.size(peer)});
      out.awaits.push_back({.peer = wrap(member - distance, n), .send = (distance - 1) / stride});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size() * call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece % call.size());
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const int n = call.size();
    out.pieces.assign(1, member * n + wrap(member + index + 1 + send * steps(call), n));
    out.reduce = false;
  }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return Cut(call.bytes, call.size()).even();
  }
};

}  // namespace

const CollectiveAlgorithm& scattered() {
  static const Scattered algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
