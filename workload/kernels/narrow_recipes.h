// What the recipes of narrow types need besides values: scales, and kernels that find them.
#pragma once

#include <cstdint>

#include "workload/options/training_options.h"

namespace ringwright::workload {

// Bytes of scales for each value that a recipe scales by blocks; 0: by tensors or rows.
[[nodiscard]] double scale_bytes(NarrowRecipe recipe);
[[nodiscard]] inline bool has_block_scales(NarrowRecipe recipe) { return scale_bytes(recipe) > 0.0; }
// Kernels for one tensor in Transformer Engine (common/cast): maximum, scale and cast with a scale of this tensor; cast
// and layout of the scales with scales by block.
[[nodiscard]] std::int64_t cast_kernels(NarrowRecipe recipe);

}  // namespace ringwright::workload
