// The library of a scenario: `comm.library`, and the variables in `comm.env` that libraries other than NCCL read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/libraries/profile.h"
#include "core/config/config_map.h"

namespace ringwright::collectives {

// Of the map `comm`. `nvidia`: the GPU vendor determines the library, unless the user sets it. E562 for variables of
// another library and for values that the library refuses.
[[nodiscard]] LibrarySettings read_library(ConfigMap comm, bool nvidia);

// Names of the variables that a library reads besides NCCL's: "CCL_ALLREDUCE".
[[nodiscard]] std::vector<std::string> library_variables(std::string_view library);

}  // namespace ringwright::collectives
