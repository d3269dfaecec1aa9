// What NCCL would detect on the cluster's hosts.
#pragma once

#include "collectives/nccl/hardware.h"
#include "network_models/host.h"
#include "workload/gpu_spec.h"

namespace ringwright::configs {

[[nodiscard]] collectives::NcclHost make_nccl_host(const network_models::Host& host, const workload::GpuSpec& gpu);

}  // namespace ringwright::configs
