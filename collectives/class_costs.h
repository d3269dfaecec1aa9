// The constants of collectives that a scenario does not set: those measured on machines of its class.
//
// A class is a generation of GPUs for the kernels, and what moves messages between hosts for the network. Each has a
// file (costs/hopper.yaml, costs/slingshot.yaml) with medians of its machines' fits (tools/class_values.py).
// Processors and
// PCIe of hosts are those of their GPUs' time: where several machines of a generation have the network, the class is
// both (costs/ampere-infiniband.yaml). A constant that no log determines keeps its planning value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/settings.h"
#include "collectives/nccl/tables/knobs.h"
#include "collectives/nccl/tables/vocabulary.h"
#include "core/base/diagnostic.h"
#include "core/config/config_map.h"
#include "core/plan/channel_costs.h"

namespace ringwright::collectives {

struct CostClass {
  Generation generation = Generation::kHopper;
  std::string kernels;    // the file of its kernels: "hopper", "cdna3"
  std::string transport;  // "infiniband", as `cluster.node.nic.transport`
  std::string version;    // of the library; empty: not stated
};

// Reads `comm.classes`. Mistakes in the files go to `foreign`.
[[nodiscard]] ChannelCosts class_costs(ConfigMap& comm, const CostClass& of, const NcclKnobs& knobs,
                                       const NcclFiles& files, Diagnostics& foreign);

}  // namespace ringwright::collectives
