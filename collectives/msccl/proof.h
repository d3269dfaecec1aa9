// A symbolic proof of a program from a file: its steps run without a clock over queues of 8 messages, every chunk
// tracks whose data it holds, and the end state must be the collective's result.
#pragma once

#include <string>

#include "collectives/msccl/program.h"

namespace ringwright::collectives {

struct MscclProof {
  std::string violation;  // empty when it holds
  int line = 0;           // of the failing step or thread block; 0: none

  [[nodiscard]] bool holds() const { return violation.empty(); }
};

// Steps run in two opposite orders. Both must end in the same state; then no thread blocks race for a chunk, unless
// both orders happen to hide it. For a "custom" collective only termination is checked.
[[nodiscard]] MscclProof prove(const MscclProgram& program);

}  // namespace ringwright::collectives
