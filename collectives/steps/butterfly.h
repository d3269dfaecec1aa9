// Butterflies: in every stage each member exchanges with one partner, and after the last stage everyone has data from
// everyone.
//
// When scattering sums, a member sends its partner all pieces of the partner and of the partner's later partners;
// gathering reverses the stages. log2 n a + (n-1)/n S/B each. (Thakur, Rabenseifner and Gropp, "Optimization of
// collective communication operations in MPICH", IJHPCA 2005.)
#pragma once

#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/power_core.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// A member's partner in a stage. Stages are numbered in reduce-scatter order.
class Pairings {
 public:
  enum class Pattern { kFarthestFirst, kNearestFirst, kBine };
  Pairings(Pattern pattern, int members) : pattern_(pattern), members_(members), stages_(PowerCore(members).levels) {}

  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] int partner(int member, int stage) const;
  // Replaces `out` by the members whose data `member` still forwards or scatters after a stage: itself, its later
  // partners, and their later partners.
  void beyond(int member, int stage, std::vector<int>& out) const;

 private:
  Pattern pattern_;
  int members_;
  int stages_;
};

[[nodiscard]] inline bool is_power_of_two(const CollectiveCall& call) {
  return PowerCore(call.size()).excess == 0;
}

// Halving scatters sums; doubling gathers.
enum class Half { kScatter, kGather };

struct ButterflyStage {
  Half half = Half::kScatter;
  int number = 0;
};

// Halving, doubling, or one after the other.
class HalvingButterfly {
 public:
  HalvingButterfly(Pairings::Pattern pattern, const CollectiveCall& call)
      : pairings_(pattern, call.size()), call_(call) {}

  [[nodiscard]] int steps() const {
    return call_.kind == CollectiveKind::kAllReduce ? 2 * pairings_.stages() : pairings_.stages();
  }
  void step(int member, int index, CollectiveStep& out) const;
  void contents(int member, int index, SendContents& out) const;

 private:
  [[nodiscard]] ButterflyStage stage_at(int index) const;
  // Owners of the transferred pieces: the partner's side when scattering, the sender's when gathering.
  [[nodiscard]] int keeper(const ButterflyStage& stage, int member) const {
    return stage.half == Half::kScatter ? pairings_.partner(member, stage.number) : member;
  }
  [[nodiscard]] Bytes size(const ButterflyStage& stage, int member) const;

  Pairings pairings_;
  const CollectiveCall& call_;
};

}  // namespace ringwright::collectives
