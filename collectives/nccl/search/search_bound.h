// What a search for channels cannot reach, whatever it tries: most searches that NCCL makes after its best find are of
// that kind, and need not be made.
#pragma once

#include "collectives/nccl/search/search.h"
#include "collectives/nccl/topology/topology.h"

namespace ringwright::collectives {

// Whether no search for `trial` can give anything better than `best`.
[[nodiscard]] bool is_hopeless(const NcclTopology& topology, const NcclChannels& trial, const NcclChannels& best);

}  // namespace ringwright::collectives
