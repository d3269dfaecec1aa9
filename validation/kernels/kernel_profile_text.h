// A fitted kernel profile as the YAML that `cluster.node.gpu.kernels` reads.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_log.h"
#include "validation/kernels/kernel_fit.h"

namespace ringwright::validation {

struct ProfileText {
  std::string gpu;                   // names the profile too
  std::vector<std::string> sources;  // of the tables
  const ConfigLog* log = nullptr;    // where constants that were not fitted come from
};
[[nodiscard]] std::string profile_yaml(const KernelFit& fit, const ProfileText& about);

}  // namespace ringwright::validation
