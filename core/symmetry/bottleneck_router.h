// Ways cut down to what they cost a flow that shares no link: their latency and their narrowest hop.
//
// Links are the different capacities of another router's links. Where a network model takes latency + size / bandwidth
// of every transfer by itself, a run over these ways takes the same times, and ranks fold by times alone: however the
// links of their ways are used by others. What links carry is not told.
#pragma once

#include <memory>

#include "core/ports/router.h"

namespace ringwright {

// The other router must outlive it.
[[nodiscard]] std::unique_ptr<Router> make_bottleneck_router(const Router& router);

}  // namespace ringwright
