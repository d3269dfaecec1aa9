// Ring: every member sends to the next in the ring; reduce-scatter is one round, all-gather another.
//
// Time without sharing: all-reduce 2 (n-1) (a + S / (n B)), all-gather and reduce-scatter half of it (Patarasuk and
// Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009; the steps of NCCL's ring).
// Broadcast and reduce cut the ring at the root and send C chunks along the chain: (C + n - 2) (a + S / (C B)).
#include <utility>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

class Ring final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring"; }
  [[nodiscard]] std::string_view help() const override {
    return "one ring through all members, host by host (NCCL ring with one channel)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind != CollectiveKind::kAllToAll;
  }

  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const int n = call.size();
    if (n == 1) return 0;
    if (is_chain(call)) return pieces(call) + n - 2;
    return call.kind == CollectiveKind::kAllReduce ? 2 * (n - 1) : n - 1;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int position = position_of(call, member);
    const int piece = sent_piece(call, position, index);
    if (piece >= 0) {
      out.sends.push_back({.peer = member_at(call, position + 1), .size = piece_size(call, piece)});
    }
    if (sent_piece(call, wrap(position - 1, call.size()), index) >= 0) {
      out.awaits.push_back({.peer = member_at(call, position - 1), .send = 0});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return is_chain(call) ? pipeline_chunks(call.bytes, call.size() - 2) : call.size();
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    out.pieces.assign(1, sent_piece(call, position_of(call, member), index));
    out.reduce = call.kind == CollectiveKind::kReduce || reducing(call, index);
  }

  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return !is_chain(call) && Cut(call.bytes, call.size()).even() && in_index_order(call);
  }
  [[nodiscard]] int same_until(const CollectiveCall& call, int index) const override {
    return is_chain(call) ? index + 1 : steps(call);
  }
  [[nodiscard]] std::optional<UniformSteps> uniform_steps(const CollectiveCall& call) const override {
    if (!rotation_symmetric(call)) return std::nullopt;
    return UniformSteps{.offset = 1, .size = call.bytes / call.size()};
  }
  // Rounds follow each other without a gap: the piece sent first in the second round is the one after the last of the
  // first round.
  [[nodiscard]] std::optional<RingSteps> ring_steps(const CollectiveCall& call) const override {
    const int n = call.size();
    if (n < 2 || is_chain(call)) return std::nullopt;
    RingSteps ring{.members = {}, .sizes = {}, .shift = reducing(call, 0) ? -1 : 0};
    for (int position = 0; position < n; ++position) ring.members.push_back(member_at(call, position));
    if (Cut(call.bytes, n).even()) {
      ring.sizes.push_back(piece_size(call, 0));
      return ring;
    }
    for (const int member : ring.members) ring.sizes.push_back(piece_size(call, member));
    return ring;
  }
  [[nodiscard]] std::optional<CyclicSizes> cyclic_sizes(const CollectiveCall& call) const override {
    std::optional<RingSteps> ring = ring_steps(call);
    if (!ring) return std::nullopt;
    const auto entries = static_cast<int>(ring->sizes.size());
    CyclicSizes sizes{.cycles = {std::move(ring->sizes)}, .of_member = {}};
    for (int member = 0; member < call.size(); ++member) {
      const int first = wrap(position_of(call, member) + ring->shift, entries);
      sizes.of_member.push_back({{.cycle = 0, .first = static_cast<std::uint32_t>(first)}});
    }
    return sizes;
  }

 private:
  static bool is_chain(const CollectiveCall& call) {
    return call.kind == CollectiveKind::kBroadcast || call.kind == CollectiveKind::kReduce;
  }
  // The first round adds contributions; the second round replaces by results.
  static bool reducing(const CollectiveCall& call, int index) {
    return call.kind == CollectiveKind::kReduceScatter ||
           (call.kind == CollectiveKind::kAllReduce && index < call.size() - 1);
  }
  static bool in_index_order(const CollectiveCall& call) {
    for (int member = 0; member < call.size(); ++member) {
      if (position_of(call, member) != member) return false;
    }
    return true;
  }

  // The piece that the member at `position` sends in step `index`; -1: none. A piece has its owner's number.
  [[nodiscard]] int sent_piece(const CollectiveCall& call, int position, int index) const {
    const int n = call.size();
    if (is_chain(call)) return chain_piece(call, position, index);
    if (reducing(call, index)) return member_at(call, position - 1 - index);
    const int round = call.kind == CollectiveKind::kAllReduce ? index - (n - 1) : index;
    return member_at(call, position - round);
  }
  // The root is the first of a broadcast's chain and the last of a reduction's; the last one sends nothing.
  [[nodiscard]] int chain_piece(const CollectiveCall& call, int position, int index) const {
    const int n = call.size();
    const int first = position_of(call, call.root) + (call.kind == CollectiveKind::kReduce ? 1 : 0);
    const int place = wrap(position - first, n);
    const int chunk = index - place;
    return place < n - 1 && chunk >= 0 && chunk < pieces(call) ? chunk : -1;
  }
};

}  // namespace

const CollectiveAlgorithm& ring() {
  static const Ring algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
