// The formula of torus rings (steps/torus_rings.cc).
#pragma once

#include "collectives/closed_form.h"
#include "core/base/units.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// The sum over steps: all messages of a step at once, to neighbouring hosts or to the next member of the host.
// `wires.step_between`: of the first step between hosts; where the messages of a host share links (six NICs behind one
// PCIe link of their GPU), all steps between hosts take as many times longer.
[[nodiscard]] Duration torus_rings_time(const CollectiveAlgorithm& algorithm, const CollectiveCall& call,
                                        const WireCosts& wires);

// The first step in which the first member sends to another host.
[[nodiscard]] int first_step_between_hosts(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

}  // namespace ringwright::collectives
