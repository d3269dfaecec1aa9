// A machine by the path of a file with a cluster, or by the name of a shipped node.
#pragma once

#include <string>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

[[nodiscard]] Result<Scenario> load_named_machine(const std::string& path_or_node, const ScenarioOptions& options = {});

}  // namespace ringwright::configs
