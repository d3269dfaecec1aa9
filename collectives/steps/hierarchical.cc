// Hierarchical: rings inside every host, then rings across hosts on every rail, so that only 1/p of the data leaves a
// host.
//
// With k hosts of p members, without sharing: all-reduce 2 (p-1) (a + S / (p B)) + 2 (k-1) (a + S / (n B)); all-gather
// and reduce-scatter half of it (BlueConnect: Cho et al., "BlueConnect: decomposing all-reduce for deep learning on
// heterogeneous network hierarchy", MLSys 2019). All-to-all first sends each local peer all data for its rail, then
// exchanges on the rails: (p-1) (a + S / (p B)) + (k-1) (a + S / (k B)), as NCCL's PXN.
#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

enum class HierarchicalPhase {
  kReduceInHost,
  kReduceOnRail,
  kGatherOnRail,
  kGatherInHost,
  kExchangeInHost,
  kExchangeOnRail
};

struct HierarchicalStage {
  HierarchicalPhase phase = HierarchicalPhase::kReduceInHost;
  int round = 0;
};

bool in_host(HierarchicalPhase phase) {
  return phase == HierarchicalPhase::kReduceInHost || phase == HierarchicalPhase::kGatherInHost ||
         phase == HierarchicalPhase::kExchangeInHost;
}
bool is_exchange(HierarchicalPhase phase) {
  return phase == HierarchicalPhase::kExchangeInHost || phase == HierarchicalPhase::kExchangeOnRail;
}
bool reduces(HierarchicalPhase phase) {
  return phase == HierarchicalPhase::kReduceInHost || phase == HierarchicalPhase::kReduceOnRail;
}

class Hierarchical final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "hierarchical"; }
  [[nodiscard]] std::string_view help() const override {
    return "rings inside hosts, then across hosts on every rail (BlueConnect); all-to-all as with PXN";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.layout->even() && call.kind != CollectiveKind::kBroadcast && call.kind != CollectiveKind::kReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const int once = call.layout->largest_host - 1 + call.layout->host_count() - 1;
    return call.kind == CollectiveKind::kAllReduce ? 2 * once : once;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const HierarchicalStage stage = stage_at(call, index);
    const int distance = is_exchange(stage.phase) ? stage.round + 1 : 1;
    const int peer = neighbour(call, member, stage.phase, distance);
    out.sends.push_back({.peer = peer, .size = sent_bytes(call, member, peer, stage)});
    out.awaits.push_back({.peer = neighbour(call, member, stage.phase, -distance), .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllToAll ? call.size() * call.size() : call.size();
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece % call.size());
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    const HierarchicalStage stage = stage_at(call, index);
    const int n = call.size();
    out.pieces.clear();
    out.reduce = reduces(stage.phase);
    const int peer = neighbour(call, member, stage.phase, stage.round + 1);
    const int peer_host = host_of(call, peer);
    const int peer_place = place_of(call, peer);
    for (int host = 0; host < call.layout->host_count(); ++host) {
      if (stage.phase == HierarchicalPhase::kExchangeInHost)
        out.pieces.push_back(member * n + member_on(call, host, peer_place));
      if (stage.phase == HierarchicalPhase::kReduceInHost || stage.phase == HierarchicalPhase::kGatherInHost) {
        out.pieces.push_back(member_on(call, host, sent_place(call, member, stage)));
      }
    }
    for (int place = 0; stage.phase == HierarchicalPhase::kExchangeOnRail && place < call.layout->largest_host;
         ++place) {
      out.pieces.push_back(member_on(call, host_of(call, member), place) * n + member_on(call, peer_host, peer_place));
    }
    if (stage.phase == HierarchicalPhase::kReduceOnRail || stage.phase == HierarchicalPhase::kGatherOnRail) {
      out.pieces.push_back(sent_on_rail(call, member, stage));
    }
  }
  // The rounds of a ring.
  [[nodiscard]] int same_until(const CollectiveCall& call, int index) const override {
    const HierarchicalPhase phase = stage_at(call, index).phase;
    int end = index + 1;
    while (!is_exchange(phase) && end < steps(call) && stage_at(call, end).phase == phase) ++end;
    return end;
  }
  // Contract of the port: with several hosts of several members, neighbours in a host and on a rail have index
  // differences that change at the end of the host.
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    const bool one_level = call.layout->host_count() == 1 || call.layout->largest_host == 1;
    return one_level && Cut(call.bytes, call.size()).even();
  }

 private:
  static HierarchicalStage stage_at(const CollectiveCall& call, int index) {
    const int local = call.layout->largest_host - 1;
    const int rail = call.layout->host_count() - 1;
    if (call.kind == CollectiveKind::kAllToAll) {
      if (index < local) return {.phase = HierarchicalPhase::kExchangeInHost, .round = index};
      return {.phase = HierarchicalPhase::kExchangeOnRail, .round = index - local};
    }
    const bool gathers_only = call.kind == CollectiveKind::kAllGather;
    const int round = gathers_only ? index + local + rail : index;
    if (round < local) return {.phase = HierarchicalPhase::kReduceInHost, .round = round};
    if (round < local + rail) return {.phase = HierarchicalPhase::kReduceOnRail, .round = round - local};
    if (round < local + 2 * rail) return {.phase = HierarchicalPhase::kGatherOnRail, .round = round - local - rail};
    return {.phase = HierarchicalPhase::kGatherInHost, .round = round - local - 2 * rail};
  }

  static int neighbour(const CollectiveCall& call, int member, HierarchicalPhase phase, int distance) {
    const int host = host_of(call, member);
    const int place = place_of(call, member);
    if (in_host(phase)) return member_on(call, host, wrap(place + distance, call.layout->largest_host));
    return member_on(call, wrap(host + distance, call.layout->host_count()), place);
  }

  // As in a ring: a reduction sends the previous member's share first, a gather its own.
  static int sent_place(const CollectiveCall& call, int member, const HierarchicalStage& stage) {
    const int back = stage.phase == HierarchicalPhase::kReduceInHost ? stage.round + 1 : stage.round;
    return wrap(place_of(call, member) - back, call.layout->largest_host);
  }
  static int sent_on_rail(const CollectiveCall& call, int member, const HierarchicalStage& stage) {
    const int back = stage.phase == HierarchicalPhase::kReduceOnRail ? stage.round + 1 : stage.round;
    const int host = wrap(host_of(call, member) - back, call.layout->host_count());
    return member_on(call, host, place_of(call, member));
  }

  static Bytes sent_bytes(const CollectiveCall& call, int member, int peer, const HierarchicalStage& stage) {
    const Cut cut(call.bytes, call.size());
    switch (stage.phase) {
      case HierarchicalPhase::kExchangeInHost: return rail_bytes(call, place_of(call, peer));
      case HierarchicalPhase::kExchangeOnRail: return cut.size(peer) * call.layout->largest_host;
      case HierarchicalPhase::kReduceInHost:
      case HierarchicalPhase::kGatherInHost: return rail_bytes(call, sent_place(call, member, stage));
      case HierarchicalPhase::kReduceOnRail:
      case HierarchicalPhase::kGatherOnRail: return cut.size(sent_on_rail(call, member, stage));
    }
    return Bytes(0);
  }
  // The shares of all members at this position of their hosts.
  static Bytes rail_bytes(const CollectiveCall& call, int place) {
    const Cut cut(call.bytes, call.size());
    if (cut.even()) return cut.size(0) * call.layout->host_count();
    Bytes total;
    for (int host = 0; host < call.layout->host_count(); ++host) total += cut.size(member_on(call, host, place));
    return total;
  }
};

}  // namespace

const CollectiveAlgorithm& hierarchical() {
  static const Hierarchical algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
