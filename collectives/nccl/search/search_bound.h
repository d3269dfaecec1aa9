// Upper bounds of a search for channels: most searches that NCCL makes after its best result cannot improve on it and
// are skipped.
#pragma once

#include "collectives/nccl/search/search.h"
#include "collectives/nccl/topology/topology.h"

namespace ringwright::collectives {

// Whether no search for `trial` can give anything better than `best`.
[[nodiscard]] bool is_hopeless(const NcclTopology& topology, const NcclChannels& trial, const NcclChannels& best);

}  // namespace ringwright::collectives
