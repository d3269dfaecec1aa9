// In the switch: members send to one switch that reduces its inputs and sends each member its result, chunk by chunk.
//
// Inside a host (NVLink SHARP): all-reduce as NCCL's NVLS runs it, each GPU the head of one n-th: multimem.ld_reduce
// reads the n-th from all GPUs through the adding switch (all send S up, the head gets S/n down), multimem.st writes it
// to all (S/n up, S down): S (1 + 1/n) per direction on each GPU's link. Over hosts with one member each (SHARP
// streaming aggregation: Graham et al., ISC 2020): S up and S down. Reduce-scatter is the first half: S up, S/n down;
// all-gather the second: S/n up, S down. (PTX ISA, multimem; NVIDIA GTC 2023 S51111 for NVLS.)
// Stages overlap on successive chunks, in lock step. Time without sharing, C chunks, L stages:
// (C + L - 1) (a + S / (C B)), a and B those of the path to or from the switch.
#include <array>
#include <span>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

enum class Share { kAll, kOwn };  // the chunk of every member's share, or of the member's own only

struct Leg {
  RouteKind route_kind = RouteKind::kUpToSwitch;
  Share share = Share::kAll;
  bool reduce = false;
};

constexpr Leg kContribute{.route_kind = RouteKind::kUpToSwitch, .share = Share::kAll, .reduce = true};
constexpr Leg kTakeOwn{.route_kind = RouteKind::kDownFromSwitch, .share = Share::kOwn};
constexpr Leg kPublishOwn{.route_kind = RouteKind::kUpToSwitch, .share = Share::kOwn};
constexpr Leg kTakeAll{.route_kind = RouteKind::kDownFromSwitch, .share = Share::kAll};

constexpr std::array kNvlsAllReduce = {kContribute, kTakeOwn, kPublishOwn, kTakeAll};
constexpr std::array kNetworkAllReduce = {kContribute, kTakeAll};
constexpr std::array kReduceScatter = {kContribute, kTakeOwn};
constexpr std::array kAllGather = {kPublishOwn, kTakeAll};

std::span<const Leg> legs(const CollectiveCall& call) {
  if (call.kind == CollectiveKind::kReduceScatter) return kReduceScatter;
  if (call.kind == CollectiveKind::kAllGather) return kAllGather;
  if (call.layout->host_count() == 1) return kNvlsAllReduce;
  return kNetworkAllReduce;
}

class InSwitch final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "in_switch"; }
  [[nodiscard]] std::string_view help() const override {
    return "the switch reduces and multicasts: NVLS inside a host, SHARP over hosts with one member each";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const bool kind = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                      call.kind == CollectiveKind::kReduceScatter;
    return kind && (call.layout->host_count() == 1 || call.layout->largest_host == 1);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return call.size() == 1 ? 0 : chunks(call) + static_cast<int>(legs(call).size()) - 1;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    out.await_everyone = true;  // the switch needs all contributions before the next step reads the sum
    const int peer = wrap(member + 1, call.size());
    int chunk = index;
    for (const Leg& leg : legs(call)) {
      if (in_range(call, chunk)) {
        out.sends.push_back({.peer = peer, .size = leg_bytes(call, member, leg, chunk), .route_kind = leg.route_kind});
      }
      --chunk;
    }
  }

  // Every member's share is cut into as many pieces as there are chunks.
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size() * chunks(call); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    const int count = chunks(call);
    return share_chunk(call, piece / count, piece % count);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    out.pieces.clear();
    int chunk = index;
    int active = -1;
    for (const Leg& leg : legs(call)) {
      if (in_range(call, chunk) && ++active == send) {
        out.reduce = leg.reduce;
        for (int owner = 0; owner < call.size(); ++owner) {
          if (leg.share == Share::kAll || owner == member) out.pieces.push_back(owner * chunks(call) + chunk);
        }
      }
      --chunk;
    }
  }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return Cut(call.bytes, call.size()).even();
  }

 private:
  static int chunks(const CollectiveCall& call) {
    return pipeline_chunks(call.bytes, static_cast<int>(legs(call).size()) - 1);
  }
  static bool in_range(const CollectiveCall& call, int chunk) { return chunk >= 0 && chunk < chunks(call); }
  static Bytes leg_bytes(const CollectiveCall& call, int member, const Leg& leg, int chunk) {
    if (leg.share == Share::kOwn) return share_chunk(call, member, chunk);
    Bytes total;
    for (int owner = 0; owner < call.size(); ++owner) total += share_chunk(call, owner, chunk);
    return total;
  }
  // Split among members first, so that equal shares stay equal when they are split into chunks.
  static Bytes share_chunk(const CollectiveCall& call, int owner, int chunk) {
    return Cut(Cut(call.bytes, call.size()).size(owner), chunks(call)).size(chunk);
  }
};

}  // namespace

const CollectiveAlgorithm& in_switch() {
  static const InSwitch algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
