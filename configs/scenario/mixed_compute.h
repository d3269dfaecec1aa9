// The time of kernels on a cluster of several kinds of GPUs: a compute model for each.
#pragma once

#include <memory>

#include "core/config/config_map.h"
#include "core/ports/compute_model.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h

// Reads `compute` for the GPUs of the cluster. Of several kinds each has its own model (ComputeModel::of_gpu); what
// hosts add, as the time to issue a collective, is that of the first.
[[nodiscard]] std::unique_ptr<ComputeModel> read_compute(ConfigMap root, const Cluster& cluster);

}  // namespace ringwright::configs
