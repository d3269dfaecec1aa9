// Reads `published`: measurements of a scenario.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_document.h"
#include "core/config/config_map.h"
#include "core/report/facts.h"

namespace ringwright::configs {

[[nodiscard]] std::vector<PublishedFigure> read_published(ConfigMap root);

// Keys of the job and its machine that --set or an extending file changes: the figures are of the scenario without
// these changes.
[[nodiscard]] std::vector<std::string> changed_since_published(const ConfigDocument& document);

}  // namespace ringwright::configs
