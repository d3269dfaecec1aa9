// What communication leaves of a GPU to the kernels beside it.
#pragma once

#include "core/ports/compute_model.h"
#include "workload/gpu_spec.h"

namespace ringwright::workload {

// The GPU with fewer multiprocessors, and their part of the arithmetic; its memory at what communication does not take,
// though no less than the part of the multiprocessors that are left (memory serves requests as they come), and no more
// than those can draw: gpu.streaming_share of all multiprocessors suffice to draw all of it. At least one is left.
[[nodiscard]] GpuSpec what_is_left(const GpuSpec& gpu, const Contention& contention);

}  // namespace ringwright::workload
