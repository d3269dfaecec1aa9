// A shipped GPU by its name, without a cluster: its capabilities, and the origin of each of its numbers.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "core/config/config_document.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::configs {

struct GpuPreset {
  ConfigDocument document;  // for origins and evidence; keys begin with "gpu."
  workload::GpuSpec gpu;
};

// Overrides of `options` name keys as "gpu.kernels.gemm.half_share=80%".
[[nodiscard]] Result<GpuPreset> load_gpu(const std::string& name, const ScenarioOptions& options = {});

}  // namespace ringwright::configs
