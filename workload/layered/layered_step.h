// One training step of a layer table with data parallelism as a task graph: forward, backward with gradients
// exchanged in buckets during it, and the optimizer.
//
// A bucket is reduced as soon as its last gradient is computed (PyTorch DistributedDataParallel: buckets of 25 MiB, the
// first of 1 MiB; Li et al., arXiv 2006.15704). With equal buckets of 64 MiB it is Horovod's fusion buffer (Sergeev and
// Del Balso, arXiv 1802.05799) in which every tensor waits for a full buffer: its cycle time and the coordinator's
// negotiation are not modelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/layered/layered_layout.h"
#include "workload/layered/layered_model.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

// The workers divide the global batch.
[[nodiscard]] StepPlan build_layered_step(const LayeredModel& model, const LayeredLayout& layout);

// Sizes of the buckets of gradients, in the order of the backward pass.
[[nodiscard]] std::vector<Bytes> gradient_buckets(const LayeredModel& model);

// The dimension of its graph whose collectives may have an algorithm of their own.
[[nodiscard]] std::vector<std::string> layered_dimensions(const LayeredLayout& layout);

}  // namespace ringwright::workload
