// A symbolic proof of a program from a file: its steps run without a clock over queues of 8 messages, every chunk knows
// whose data it holds, and the collective's result must be there in the end.
#pragma once

#include <string>

#include "collectives/msccl/program.h"

namespace ringwright::collectives {

struct MscclProof {
  std::string violation;  // empty when it holds
  int line = 0;           // of the step or thread block that is to blame; 0: none

  [[nodiscard]] bool holds() const { return violation.empty(); }
};

// Steps run in two opposite orders. Both must end, alike; then no thread blocks race for a chunk, unless both orders
// happen to hide it. Of a "custom" collective only the ends are checked.
[[nodiscard]] MscclProof prove(const MscclProgram& program);

}  // namespace ringwright::collectives
