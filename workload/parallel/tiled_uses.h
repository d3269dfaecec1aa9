// Uses of sharded units where linear operators are cut into tiles.
//
// At a point with tiles the unit of its layer, which has what is not cut, is used before and after them, and stays in
// between. A backward pass begins with the tiles of what it recomputes, in the order of a forward pass.
#pragma once

#include <vector>

#include "workload/layout/layer_groups.h"
#include "workload/parallel/shard_units.h"

namespace ringwright::workload {

// Of a stage's chunks: in the order of its passes. Without tiles as ShardUnits::uses.
[[nodiscard]] std::vector<UnitUse> uses_of(const ShardUnits& units, const std::vector<ModelChunk>& parts,
                                           const TrainingOptions& training, const std::vector<Slot>& slots);

}  // namespace ringwright::workload
