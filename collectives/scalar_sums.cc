#include "collectives/scalar_sums.h"

#include "collectives/closed_form.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& ScalarSums::choose(const CollectiveCall& call) const {
  const bool scalar = call.kind == CollectiveKind::kAllReduce && call.bytes <= kScalar;
  const bool meets = scalar && others_.named(call) == nullptr && kernels_.choose(call).algorithm != nullptr;
  return meets ? pairings().choose(call) : others_.choose(call);
}

}  // namespace ringwright::collectives
