// The hardware that NCCL would detect on the cluster's hosts.
#pragma once

#include "collectives/class_costs.h"
#include "collectives/nccl/cost/selector.h"
#include "collectives/nccl/topology/hardware.h"
#include "network_models/host/host.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::configs {

// Whether the ports of one NIC are one device to the library.
enum class NicPorts { kMerged, kApart };

[[nodiscard]] collectives::NcclHost make_nccl_host(const network_models::Host& host, const workload::GpuSpec& gpu,
                                                   NicPorts ports = NicPorts::kMerged);

// The class whose constants its collectives begin with.
[[nodiscard]] collectives::CostClass cost_class_of(const network_models::Host& host, const workload::GpuSpec& gpu,
                                                   const collectives::NcclSetup& nccl);

}  // namespace ringwright::configs
