// A machine by the path of a file with a cluster, or by the name of a shipped machine or node (one host of its kind).
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

[[nodiscard]] bool is_named_machine(const std::string& name);  // shipped
[[nodiscard]] Result<Scenario> load_named_machine(const std::string& path_or_name, const ScenarioOptions& options = {});

}  // namespace ringwright::configs
