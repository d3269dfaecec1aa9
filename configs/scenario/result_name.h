// Names of scenarios and studies, which name the folders and files of their results.
#pragma once

#include <string>

#include "core/config/config_map.h"

namespace ringwright::configs {

// Records a name that cannot be that of a folder (E118).
void check_result_name(ConfigMap& root, const std::string& name);

}  // namespace ringwright::configs
