// The blocks `collectives` and `comm` of a scenario: which library runs collectives, with which rung and constants.
#pragma once

#include "collectives/chooser.h"
#include "collectives/libraries/profile.h"
#include "collectives/nccl/settings.h"
#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

// Of a slot's rate, for copies between GPU and host memory: nvbandwidth copies 26 of 31.5 GB/s to A100 and 51 of 63 to
// H100 (Azure/AI-benchmarking-guide).
inline constexpr double kCopyShare = 0.8;

[[nodiscard]] collectives::LibrarySettings read_library_of(ConfigMap root, const Cluster& cluster);

// What a collective needs from the file, once cluster and job are read. Mistakes in other files go to `foreign`.
void read_collectives(ConfigMap root, const collectives::ChooserSettings& chooser,
                      const collectives::NcclFiles& files, Diagnostics& foreign, Scenario& scenario);

}  // namespace ringwright::configs
