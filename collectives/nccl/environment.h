// NCCL's environment variables, in NCCL's own names and syntax, as the map `comm.env`: modelled variables take effect,
// other variables of NCCL are listed as ignored, unknown names are mistakes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/tables/knobs.h"
#include "core/config/config_map.h"

namespace ringwright::collectives {

// `others`: variables that another reader of the same map takes, those of Horovod.
[[nodiscard]] NcclKnobs read_nccl_environment(ConfigMap env, std::span<const std::string> others = {});

// Names of all variables that the map may have, sorted; for completion and tests.
[[nodiscard]] std::vector<std::string> nccl_variables();

// Those of them on which a result depends.
[[nodiscard]] std::vector<std::string> modelled_nccl_variables();

}  // namespace ringwright::collectives
