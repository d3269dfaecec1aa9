// Conditions under which keys of `comm` and `collectives` have an effect.
#pragma once

#include <span>

#include "core/config/key_effect.h"

namespace ringwright::collectives {

// The condition under which NCCL's settings and cost model are used at all.
inline constexpr std::string_view kNcclCounts =
    "collectives.model=chunks | collectives.overhead=kernels | collectives.tuner=nccl | interference.model=share";
inline constexpr std::string_view kNcclDoesNotCount =
    "NCCL is not used: it takes 'collectives.model: chunks', 'overhead: kernels', 'tuner: nccl' or "
    "'interference.model: share'";

[[nodiscard]] std::span<const KeyEffect> collective_key_effects();

}  // namespace ringwright::collectives
