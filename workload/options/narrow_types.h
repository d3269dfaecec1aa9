// The keys of `training` that set the types of GEMMs in fp8 and fp4, and of their weights.
#pragma once

#include "core/config/config_map.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Whether values with one scale for a tensor need not be transposed: the GPU's GEMMs in fp8 read them along either side
// (Transformer Engine, transformer_engine.cpp: nvte_is_non_tn_fp8_gemm_supported).
[[nodiscard]] bool takes_either_layout(NarrowRecipe recipe, const GpuSpec& gpu);

void read_narrow_types(ConfigMap& training, TrainingOptions& options);

}  // namespace ringwright::workload
