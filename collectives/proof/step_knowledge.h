// What each member of a collective knows of the others' progress: how many of their steps are complete.
//
// A member that awaits another learns what that one knew when its step began.
#pragma once

#include <vector>

#include "core/base/index.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

class StepKnowledge {
 public:
  explicit StepKnowledge(int members) : members_(members), known_(at(members) * at(members), 0) {}

  // That the member knows to be complete of the other.
  [[nodiscard]] int steps(int member, int other) const { return known_[at(member) * at(members_) + at(other)]; }
  // All members have ended a step, each with these awaits, or all with all; then so many are complete.
  void learn(const std::vector<CollectiveStep>& steps, int complete);

 private:
  int members_;
  std::vector<int> known_;   // by member, by other
  std::vector<int> before_;  // scratch of learn
};

}  // namespace ringwright::collectives
