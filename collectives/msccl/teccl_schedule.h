// A schedule of TE-CCL (the JSON that its solver writes) as a program of MSCCL: which chunk of which GPU goes over
// which link in which epoch.
//
//     {"6-Demand_Met": {"GPU 1": {"GPU 2": {"Chunk 0": 4.5e-06}}},
//      "7-Flows": ["Chunk 0 from 28 traveled over 28->19 in epoch 0 via switches 17"]}
//
// GPUs are the numbers in the demands, in order; the numbers of switches are left out. Each pair of GPUs is a queue
// with a thread block at each end, whose chunks travel in the order of their epochs; a chunk is passed on when it has
// arrived. Epochs order chunks, and the simulated machine decides how long they take. All-gathers only.
#pragma once

#include <string>
#include <string_view>

#include "collectives/msccl/program.h"
#include "core/config/config_node.h"

namespace ringwright::collectives {

[[nodiscard]] bool is_teccl_schedule(const ConfigNode& root);
// Joined and proved, as parse_msccl.
[[nodiscard]] Result<MscclProgram> read_teccl_schedule(const ConfigNode& root, const std::string& name);

}  // namespace ringwright::collectives
