// The list of pipeline stages that `parallel.plan_file` names.
#pragma once

#include <optional>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

struct StagePlanFile {
  std::optional<ConfigDocument> document;
  std::optional<ConfigMap> map;

  [[nodiscard]] ConfigMap* root() { return map ? &*map : nullptr; }
};

// Mistakes go to `foreign`; a file is empty when none is named.
[[nodiscard]] StagePlanFile open_stage_plan(ConfigMap parallel, Diagnostics& foreign);
// Once its stages are read: notes its values with those of the scenario.
void close_stage_plan(StagePlanFile& file, ConfigMap parallel, Diagnostics& foreign);

}  // namespace ringwright::configs
