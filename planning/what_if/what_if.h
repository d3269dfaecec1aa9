// The what-ifs of a scenario, each simulated and compared with the scenario as it stands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "planning/study/difference.h"
#include "planning/study/point.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

struct WhatIfOutcome {
  std::string name;
  std::vector<std::string> settings;
  Point point;
  std::vector<std::string> notes;   // settings without effect, and warnings that the scenario as it stands has not
  std::vector<PartChange> changes;  // against the scenario as it stands, where the point was simulated
};

struct WhatIfResult {
  std::string scenario;
  Point base;
  std::vector<WhatIfOutcome> outcomes;  // in the order of the file
};

struct WhatIfOptions {
  Workers workers;
  configs::OverheadStore* store = nullptr;  // where overheads of calls are retained; null: nowhere
};

// `settings` hold for the scenario and all what-ifs. Fails where the scenario has none (E331), or cannot be simulated.
[[nodiscard]] Result<WhatIfResult> ask_what_ifs(const std::string& path, const std::vector<std::string>& settings,
                                                const WhatIfOptions& options = {});

[[nodiscard]] std::string render_what_if_text(const WhatIfResult& result);
// Schema "ringwright.what_if/1" (docs/what-if.md).
[[nodiscard]] std::string render_what_if_json(const WhatIfResult& result);

}  // namespace ringwright::planning
