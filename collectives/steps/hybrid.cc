// Hybrid: rings inside every host, halving and doubling across hosts on every rail, so that a call over many hosts has
// few steps between them and only 1/p of the data leaves a host.
//
// With k = 2^L hosts of p members, without sharing: all-reduce 2 (p-1) (a + S / (p B)) + 2 L a + 2 (k-1)/k S / (p B);
// all-gather and reduce-scatter half of it. It is ACCL's hybrid all-reduce (Dong et al., IEEE Micro 2021) and HCCL's
// H-D_R between servers.
#include "collectives/shapes/cut.h"
#include "collectives/shapes/power_core.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& hybrid();

namespace {

enum class HybridPhase { kReduceRing, kHalve, kDouble, kGatherRing };

struct HybridStage {
  HybridPhase phase = HybridPhase::kReduceRing;
  int round = 0;  // of a ring; of the others: the bit in which partners' hosts differ
};

class Hybrid final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "hybrid"; }
  [[nodiscard]] std::string_view help() const override {
    return "rings inside hosts, then halving and doubling across a power of two of hosts on every rail (ACCL)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const bool cut = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                     call.kind == CollectiveKind::kReduceScatter;
    return cut && call.layout->even() && PowerCore(call.layout->host_count()).excess == 0;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const int once = call.layout->largest_host - 1 + PowerCore(call.layout->host_count()).levels;
    return call.kind == CollectiveKind::kAllReduce ? 2 * once : once;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const HybridStage stage = stage_at(call, index);
    Bytes size;
    const Cut cut(call.bytes, call.size());
    const Rows rows = sent_hosts(call, member, stage);
    const int place = sent_place(call, member, stage);
    for (int i = 0; i < rows.count; ++i) size += cut.size(member_on(call, rows.first + i * rows.stride, place));
    out.sends.push_back({.peer = peer_of(call, member, stage, 1), .size = size});
    out.awaits.push_back({.peer = peer_of(call, member, stage, -1), .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    const HybridStage stage = stage_at(call, index);
    const Rows rows = sent_hosts(call, member, stage);
    const int place = sent_place(call, member, stage);
    out.pieces.clear();
    for (int i = 0; i < rows.count; ++i) out.pieces.push_back(member_on(call, rows.first + i * rows.stride, place));
    out.reduce = stage.phase == HybridPhase::kReduceRing || stage.phase == HybridPhase::kHalve;
  }

 private:
  // The hosts of the members whose shares a message holds.
  using Rows = Cut::Stride;

  static bool in_ring(HybridPhase phase) {
    return phase == HybridPhase::kReduceRing || phase == HybridPhase::kGatherRing;
  }

  static HybridStage stage_at(const CollectiveCall& call, int index) {
    const int ring = call.layout->largest_host - 1;
    const int levels = PowerCore(call.layout->host_count()).levels;
    const int round = call.kind == CollectiveKind::kAllGather ? index + ring + levels : index;
    if (round < ring) return {.phase = HybridPhase::kReduceRing, .round = round};
    if (round < ring + levels) return {.phase = HybridPhase::kHalve, .round = round - ring};
    if (round < ring + 2 * levels) {
      return {.phase = HybridPhase::kDouble, .round = ring + 2 * levels - 1 - round};
    }
    return {.phase = HybridPhase::kGatherRing, .round = round - ring - 2 * levels};
  }

  static int peer_of(const CollectiveCall& call, int member, const HybridStage& stage, int distance) {
    const int host = host_of(call, member);
    const int place = place_of(call, member);
    if (in_ring(stage.phase)) return member_on(call, host, wrap(place + distance, call.layout->largest_host));
    return member_on(call, host ^ (1 << stage.round), place);
  }

  // As in a ring: a reduction sends the previous member's share first, a gather its own.
  static int sent_place(const CollectiveCall& call, int member, const HybridStage& stage) {
    const int place = place_of(call, member);
    if (!in_ring(stage.phase)) return place;
    const int back = stage.phase == HybridPhase::kReduceRing ? stage.round + 1 : stage.round;
    return wrap(place - back, call.layout->largest_host);
  }

  // After halving at levels 0..l a member is responsible for hosts whose low l + 1 bits are those of its own.
  static Rows sent_hosts(const CollectiveCall& call, int member, const HybridStage& stage) {
    const int hosts = call.layout->host_count();
    if (in_ring(stage.phase)) return {.first = 0, .stride = 1, .count = hosts};
    const int stride = 2 << stage.round;
    const int own = host_of(call, member);
    const int keeper = stage.phase == HybridPhase::kHalve ? own ^ (1 << stage.round) : own;
    return {.first = keeper & (stride - 1), .stride = stride, .count = hosts / stride};
  }
};

}  // namespace

const CollectiveAlgorithm& hybrid() {
  static const Hybrid algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
