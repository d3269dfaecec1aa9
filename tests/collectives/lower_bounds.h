// Lower bounds on the bytes of a collective, for any algorithm.
//
// A member must receive all data that it ends with and did not have; a sum of n contributions made without switches
// takes n - 1 messages of its size (Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory,
// practice, and experience", 2007, section 3).
#pragma once

#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

[[nodiscard]] Bytes least_received(const CollectiveCall& call, int member);
// Sent by all members together, when no switch reduces or multicasts.
[[nodiscard]] Bytes least_sent_by_all(const CollectiveCall& call);

}  // namespace ringwright::collectives
