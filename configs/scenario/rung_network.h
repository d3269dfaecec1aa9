// Whether the rung of collectives and the network model go together.
#pragma once

#include "collectives/chooser.h"
#include "core/config/config_map.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

// A mistake is recorded at `collectives.model`.
void check_rung(ConfigMap root, const collectives::ChooserSettings& settings, const network_models::ModelEntry& model);

}  // namespace ringwright::configs
