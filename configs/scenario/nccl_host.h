// The hardware that NCCL would detect on the cluster's hosts.
#pragma once

#include <string>
#include <vector>

#include "collectives/class_costs.h"
#include "collectives/nccl/cost/selector.h"
#include "collectives/nccl/topology/hardware.h"
#include "network_models/host/host.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h

// Whether the ports of one NIC are one device to the library.
enum class NicPorts { kMerged, kApart };

[[nodiscard]] collectives::NcclHost make_nccl_host(const network_models::Host& host, const workload::GpuSpec& gpu,
                                                   NicPorts ports = NicPorts::kMerged);
// With the hosts of all groups.
[[nodiscard]] collectives::NcclHost make_nccl_host(const Cluster& cluster, NicPorts ports);
// The host and the others of its cluster.
[[nodiscard]] std::vector<collectives::NcclHost*> all_kinds(collectives::NcclHost& host);

// The class whose constants its collectives begin with.
[[nodiscard]] collectives::CostClass cost_class_of(const network_models::Host& host, const workload::GpuSpec& gpu,
                                                   const collectives::NcclSetup& nccl);
// Of the oldest group where there are several: its kernels set the pace.
[[nodiscard]] collectives::CostClass cost_class_of(const Cluster& cluster, const collectives::NcclSetup& nccl);

// Variables of `comm.env` on which a result may depend.
[[nodiscard]] std::vector<std::string> variables_that_act();

}  // namespace ringwright::configs
