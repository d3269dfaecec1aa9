#include "collectives/proof/step_knowledge.h"

#include <algorithm>

namespace ringwright::collectives {

void StepKnowledge::learn(const std::vector<CollectiveStep>& steps, int complete) {
  if (steps.front().await_everyone) {
    std::ranges::fill(known_, complete);
    return;
  }
  before_ = known_;
  for (int member = 0; member < members_; ++member) {
    int* const mine = known_.data() + at(member) * at(members_);
    for (const CollectiveAwait& await : steps[at(member)].awaits) {
      const int* const theirs = before_.data() + at(await.peer) * at(members_);
      for (int other = 0; other < members_; ++other) mine[other] = std::max(mine[other], theirs[other]);
    }
    mine[member] = complete;
  }
}

}  // namespace ringwright::collectives
