// Streamed rings: rings through hosts whose pieces are shorter than what a kernel has in flight.
//
// NCCL's kernels pass on the slices that have arrived, and every ring goes on by itself. A piece that goes around a
// ring of n members on k hosts of p crosses from host to host k - 1 times, so that the time of a short one is
// (k-1) a' + (n-k) a, with the latencies a' between hosts and a inside (sums of NCCL's src/graph/tuning.cc). In steps,
// where a member takes part in all rings at once, every step waits for a message between hosts: (n-1) a'. Here the
// n - 1 steps of a round are merged into K of equal size, over the same edges with the same bytes:
//
//     K = max(k + p - 2, (n-1) piece / chunk), at most n - 1
//
// After k + p - 2 steps every member has waited for every other, directly or not, so that a late member still delays
// all. Pieces of a chunk and longer are steps of their own, as in the rings that are streamed. Time without sharing:
// all-reduce 2 K (a' + (n-1) piece / (K B)), all-gather and reduce-scatter half of it.
#include "collectives/steps/streamed_rings.h"

#include <algorithm>
#include <cstdint>

namespace ringwright::collectives {
namespace {

// Of the protocol Simple: four slots of 512 KiB.
constexpr std::int64_t kChunk = std::int64_t{2} << 20U;
// A piece's bytes when messages are counted in pieces.
constexpr std::int64_t kUnit = 1 << 10;

int passes(const CollectiveCall& call) {
  return call.kind == CollectiveKind::kAllReduce ? 2 : 1;
}

// Steps of a round.
int merged_steps(const CollectiveCall& call, int pieces) {
  const int most = call.size() - 1;
  const GroupLayout& layout = *call.layout;
  const double chunks = static_cast<double>(call.bytes.count()) * most / pieces / static_cast<double>(kChunk);
  if (chunks >= most) return most;
  return std::min(most, std::max(layout.host_count() + layout.largest_host - 2, static_cast<int>(chunks) + 1));
}

class StreamedRings final : public CollectiveAlgorithm {
 public:
  explicit StreamedRings(const CollectiveAlgorithm& rings) : rings_(rings) {}

  [[nodiscard]] std::string_view name() const override { return rings_.name(); }
  [[nodiscard]] std::string_view help() const override { return rings_.help(); }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return rings_.supports(call) && is_streamed(rings_, call);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return passes(call) * merged_steps(call, rings_.pieces(call));
  }

  // Members that send equally many pieces send equally many bytes: at most half a byte per message is rounded away.
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    const int pieces = rings_.pieces(call);
    const int merged = merged_steps(call, pieces);
    if (merged == call.size() - 1) return rings_.step(call, member, index, out);
    CollectiveCall counted = call;
    counted.bytes = Bytes(kUnit) * pieces;
    rings_.step(counted, member, 0, out);
    const double share = static_cast<double>(call.size() - 1) / merged / pieces / static_cast<double>(kUnit);
    for (CollectiveSend& send : out.sends) {
      send.size = scale(call.bytes, static_cast<double>(send.size.count()) * share);
    }
  }

  [[nodiscard]] int same_until(const CollectiveCall& call, int) const override { return steps(call); }

  // Slices of several pieces are in flight in a step; only their sum is known. The rings themselves are proved.
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return rings_.pieces(call); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return rings_.piece_size(call, piece);
  }
  void contents(const CollectiveCall& call, int, int index, int, SendContents& out) const override {
    out.pieces.clear();
    out.reduce = call.kind == CollectiveKind::kReduceScatter ||
                 (call.kind == CollectiveKind::kAllReduce && index < steps(call) / 2);
  }

 private:
  const CollectiveAlgorithm& rings_;
};

}  // namespace

bool is_streamed(const CollectiveAlgorithm& rings, const CollectiveCall& call) {
  const bool round = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                     call.kind == CollectiveKind::kReduceScatter;
  const bool coupled = call.layout->host_count() > 1 && call.layout->largest_host > 1;
  return round && coupled && merged_steps(call, rings.pieces(call)) < call.size() - 1;
}

std::unique_ptr<const CollectiveAlgorithm> make_streamed_rings(const CollectiveAlgorithm& rings) {
  return std::make_unique<StreamedRings>(rings);
}

}  // namespace ringwright::collectives
