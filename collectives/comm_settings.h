// The user's NCCL settings in the map `comm`: the constants of its kernels, and a plan for every call.
#pragma once

#include <optional>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/config/config_map.h"
#include "core/plan/channel_costs.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

struct CommSettings {
  ChannelCosts costs;
  std::optional<CollectivePlan> plan;  // for every call that its algorithm supports; empty: NCCL's choice for each
};

// Of the map `comm`, where kernels are not simulated: how bytes travel on the links. The rest is ignored.
[[nodiscard]] CommSettings read_wires_only(ConfigMap comm);
// Reads the map `comm`; `defaults` are those of the machine's class (class_costs.h).
[[nodiscard]] CommSettings read_comm_settings(ConfigMap comm, const ChannelCosts& defaults);

// Of a machine of which only the generation of its GPUs is known.
[[nodiscard]] ChannelCosts planning_costs(Generation generation);
// Reads `comm.costs`.
[[nodiscard]] ChannelCosts read_channel_costs(ConfigMap costs, const ChannelCosts& defaults);
// Reads `comm.plan`: one plan for all calls that its algorithm supports; empty when it is not given.
[[nodiscard]] std::optional<CollectivePlan> read_fixed_plan(ConfigMap comm);

}  // namespace ringwright::collectives
