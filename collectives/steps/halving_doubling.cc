// Recursive halving and doubling: partners at distance 1, 2, 4, ... exchange a half, a quarter, ..., and back.
//
// All-reduce (Rabenseifner) with n = 2^L: 2 L steps, 2 L a + 2 (n-1)/n S/B. Other sizes first fold each of the n - 2^L
// excess members into a neighbour and send it the result at the end: + 2 (a + S/B), pieces S / 2^L. Reduce-scatter and
// all-gather (powers of two only): L a + (n-1)/n S/B. (Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005, sections 4.3 and 4.5.)
#include "collectives/shapes/cut.h"
#include "collectives/shapes/power_core.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

enum class HalvingPhase { kFold, kHalve, kDouble, kUnfold };

struct HalvingStage {
  HalvingPhase phase = HalvingPhase::kHalve;
  int level = 0;  // partners differ in this bit of their numbers
};

class HalvingDoubling final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "halving_doubling"; }
  [[nodiscard]] std::string_view help() const override {
    return "recursive vector halving and distance doubling, then back (Rabenseifner)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    if (call.kind == CollectiveKind::kAllReduce) return true;
    const bool one_way = call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kReduceScatter;
    return one_way && PowerCore(call.size()).excess == 0;
  }

  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const PowerCore core(call.size());
    if (call.kind != CollectiveKind::kAllReduce) return core.levels;
    return 2 * core.levels + (core.excess > 0 ? 2 : 0);
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const PowerCore core(call.size());
    const HalvingStage stage = stage_at(call, index);
    if (stage.phase == HalvingPhase::kFold || stage.phase == HalvingPhase::kUnfold) {
      const FoldStep fold = stage.phase == HalvingPhase::kFold ? FoldStep::kIn : FoldStep::kBack;
      if (core.paired(member)) exchange_in_pair(call, member, fold, out);
      return;
    }
    const int number = core.number(member);
    if (number < 0) return;
    const int partner = core.member(number ^ (1 << stage.level));
    out.sends.push_back({.peer = partner, .size = Cut(call.bytes, core.size).strided(sent(core, number, stage))});
    out.awaits.push_back({.peer = partner, .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return PowerCore(call.size()).size; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    const PowerCore core(call.size());
    const HalvingStage stage = stage_at(call, index);
    out.pieces.clear();
    out.reduce = stage.phase == HalvingPhase::kFold || stage.phase == HalvingPhase::kHalve;
    const bool whole = stage.phase == HalvingPhase::kFold || stage.phase == HalvingPhase::kUnfold;
    const Cut::Stride chosen =
        whole ? Cut::Stride{.first = 0, .stride = 1, .count = core.size} : sent(core, core.number(member), stage);
    for (int i = 0; i < chosen.count; ++i) out.pieces.push_back(chosen.first + i * chosen.stride);
  }

 private:
  // Halving starts with the nearest partner, because the largest messages then stay within a host.
  static HalvingStage stage_at(const CollectiveCall& call, int index) {
    const PowerCore core(call.size());
    if (call.kind == CollectiveKind::kReduceScatter) return {.phase = HalvingPhase::kHalve, .level = index};
    if (call.kind == CollectiveKind::kAllGather)
      return {.phase = HalvingPhase::kDouble, .level = core.levels - 1 - index};
    const int round = core.excess > 0 ? index - 1 : index;
    if (round < 0) return {.phase = HalvingPhase::kFold};
    if (round < core.levels) return {.phase = HalvingPhase::kHalve, .level = round};
    if (round < 2 * core.levels) return {.phase = HalvingPhase::kDouble, .level = 2 * core.levels - 1 - round};
    return {.phase = HalvingPhase::kUnfold};
  }

  // After halving at levels 0..l a member is responsible for the pieces whose low l + 1 bits are those of its number.
  // It sends its partner's share of them; doubling sends its own share back in reverse.
  static Cut::Stride sent(const PowerCore& core, int number, const HalvingStage& stage) {
    const int stride = 2 << stage.level;
    const int keeper = stage.phase == HalvingPhase::kHalve ? number ^ (1 << stage.level) : number;
    return {.first = keeper & (stride - 1), .stride = stride, .count = core.size / stride};
  }
};

}  // namespace

const CollectiveAlgorithm& halving_doubling() {
  static const HalvingDoubling algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
