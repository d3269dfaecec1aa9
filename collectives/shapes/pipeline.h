// The number of chunks of a pipelined collective.
//
// C chunks through D + 1 stages in lock step take (C + D) (a + S / (C B)); the minimum is at C = sqrt(D S / (a B)).
#pragma once

#include "core/base/units.h"

namespace ringwright::collectives {

// `extra_stages` is D. At least 1 chunk, at most 1024.
[[nodiscard]] int pipeline_chunks(Bytes bytes, int extra_stages);

}  // namespace ringwright::collectives
