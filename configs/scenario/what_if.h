// The list `what_if` of a scenario: named changes, each to be compared with the scenario as it stands.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_map.h"

namespace ringwright::configs {

struct WhatIf {
  std::string name;
  std::vector<std::string> settings;  // as --set takes them: "cluster.nodes=64"
};

// They are no values of the scenario: neither its result nor its fingerprint depends on them.
[[nodiscard]] std::vector<WhatIf> read_what_ifs(ConfigMap root);

}  // namespace ringwright::configs
