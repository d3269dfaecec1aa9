// Reads `published`: measurements of a scenario.
#pragma once

#include <vector>

#include "core/config/config_map.h"
#include "core/report/facts.h"

namespace ringwright::configs {

[[nodiscard]] std::vector<PublishedFigure> read_published(ConfigMap root);

}  // namespace ringwright::configs
