// The library settings of the map `comm`: which library, its version, environment and tuner file.
#pragma once

#include <string>
#include <vector>

#include "collectives/libraries/profile.h"
#include "collectives/nccl/cost/selector.h"
#include "core/base/diagnostic.h"
#include "collectives/nccl/tables/known_tables.h"
#include "core/config/config_map.h"
#include "core/config/parsed_files.h"

namespace ringwright::collectives {

// Location of the tables: below nccl/; and what was read before, if that is kept.
struct NcclFiles {
  std::vector<std::string> share_folders;
  ParsedFiles* parsed = nullptr;
  KnownTables* tables = nullptr;
};

// `library`: of the same map (read_library). The host is left for others to fill. Mistakes in the files that `comm`
// names go to `foreign`. What a library without NCCL's kernels does not read is listed as without effect.
[[nodiscard]] NcclSetup read_nccl_settings(ConfigMap comm, const NcclFiles& files, const LibrarySettings& library,
                                           Diagnostics& foreign);

// Of "2.18", "2.20", ...: the newest one up to `wanted`, the oldest if all are newer; empty when `wanted` is not a
// version.
[[nodiscard]] std::string nearest_version(const std::vector<std::string>& shipped, const std::string& wanted);

}  // namespace ringwright::collectives
