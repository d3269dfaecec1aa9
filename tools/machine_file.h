// Which machine the user means: a file with a cluster, or the name of a shipped node or machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::tools {

struct MachineOptions {
  std::optional<std::uint64_t> nodes;  // instead of the file's value
  std::vector<std::string> overrides;
};

// A shipped node stands for hosts of its kind on the default fabric.
[[nodiscard]] Result<configs::Scenario> load_machine(const std::string& path_or_name, const MachineOptions& options);

}  // namespace ringwright::tools
