// What the user says about NCCL in the map `comm`: the constants of its kernels, and a plan for every call.
#pragma once

#include <optional>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/config/config_map.h"
#include "core/plan/channel_costs.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

struct CommSettings {
  ChannelCosts costs;
  std::optional<CollectivePlan> plan;  // of every call that its algorithm can play; empty: NCCL's choice for each
};

// Of the map `comm`, where kernels are not played: how bytes lie on the wires. The rest is ignored.
[[nodiscard]] CommSettings read_wires_only(ConfigMap comm);
// Reads the map `comm`; what it does not say are values of the GPUs' generation.
[[nodiscard]] CommSettings read_comm_settings(ConfigMap comm, Generation generation);

// Reads `comm.costs`.
[[nodiscard]] ChannelCosts read_channel_costs(ConfigMap costs, Generation generation);
// Reads `comm.plan`: one plan for all calls that its algorithm can play; empty when it is not given.
[[nodiscard]] std::optional<CollectivePlan> read_fixed_plan(ConfigMap comm);

}  // namespace ringwright::collectives
