// Rings over several hosts whose steps are merged where their pieces are short, since kernels stream them.
#pragma once

#include <memory>

#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// Whether the steps of these rings (`rail_rings`, `rings`) are merged in this call.
[[nodiscard]] bool is_streamed(const CollectiveAlgorithm& rings, const CollectiveCall& call);

// For calls that are streamed. The rings outlive it.
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_streamed_rings(const CollectiveAlgorithm& rings);

}  // namespace ringwright::collectives
