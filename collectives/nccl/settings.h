// What the map `comm` says about the library: which one, its version, environment and tuner file.
#pragma once

#include <string>
#include <vector>

#include "collectives/nccl/cost/selector.h"
#include "core/base/diagnostic.h"
#include "core/config/config_map.h"

namespace ringwright::collectives {

// Where tables lie: below nccl/.
struct NcclFiles {
  std::vector<std::string> share_folders;
};

// `nvidia`: who makes the GPUs decides which library it is, unless the user says. The host is left as it is for others
// to fill. Mistakes in the files that `comm` names go to `foreign`.
[[nodiscard]] NcclSetup read_nccl_settings(ConfigMap comm, const NcclFiles& files, bool nvidia,
                                           Diagnostics& foreign);

// Of "2.18", "2.20", ...: the newest that is not newer than `wanted`, the oldest if all are; empty when `wanted` is no
// version.
[[nodiscard]] std::string nearest_version(const std::vector<std::string>& shipped, const std::string& wanted);

}  // namespace ringwright::collectives
