// The proof that an algorithm is correct, without a clock: all steps run on sets of contributions.
//
// Every piece of every member's buffer is the set of members whose contribution it holds; a switch that reduces or
// multicasts is a separate participant. A message that arrives early waits outside the buffer until its receiver's step
// of that index ends, so a send of step k carries what its sender held on entering step k.
#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

struct Proof {
  std::string violation;        // the first violation, as text; empty when the algorithm is correct
  std::vector<Bytes> sent;      // by member: to peers and up to switches
  std::vector<Bytes> received;  // by member: from peers and down from switches

  [[nodiscard]] bool holds() const { return violation.empty(); }
};

// The proof shows: the pieces add up to the buffer; each send carries pieces that its sender holds, of exactly its
// size; each message between members is awaited by its receiver in the step of the same index and nothing else is
// awaited; a switch answers only when all contributions are known to have arrived; no contribution is added twice; no
// two writes of one step depend on their order; all members end with the result of the kind of call.
[[nodiscard]] Proof prove(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

}  // namespace ringwright::collectives
