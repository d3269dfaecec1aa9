// Paths reduced to their cost for a flow that shares no link: their latency and their narrowest hop.
//
// Links are the different capacities of another router's links. Where a network model takes latency + size / bandwidth
// of every transfer by itself, a run over these paths takes the same times, and ranks fold by times alone, independent
// of how others use the links of their paths. Link traffic is not reported.
#pragma once

#include <memory>

#include "core/ports/router.h"

namespace ringwright {

// The other router must outlive it.
[[nodiscard]] std::unique_ptr<Router> make_bottleneck_router(const Router& router);

}  // namespace ringwright
