// One result that a report shows: its JSON, and for a run that was just simulated the tasks of its ranks.
#pragma once

#include <string>

#include "planning/report/json_value.h"
#include "traces/timeline/timeline.h"

namespace ringwright::planning {

struct ResultInput {
  std::string name;  // of the file, as the user named it
  JsonValue json;
  const traces::Timeline* timeline = nullptr;  // null: not recorded
  std::string no_timeline = {};                // why it was not recorded; empty: nobody asked for it
};

}  // namespace ringwright::planning
