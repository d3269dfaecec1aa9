// Traffic of others on the job's network: checkpoints, data loading, another job; read from `background`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/config_map.h"
#include "core/plan/task_graph.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

struct BackgroundTraffic {
  std::string text;
  TimePoint at;
  Place place;
};

struct Background {
  std::vector<BackgroundTransfer> transfers;
  std::vector<BackgroundTraffic> described;  // for the report
};

// The list `background` of the document's root; `gpus` of the whole cluster. A network model without link sharing (one
// that does not simulate link faults either) ignores it.
[[nodiscard]] Background read_background(ConfigMap& root, std::int64_t gpus, const network_models::ModelEntry& model);

}  // namespace ringwright::configs
