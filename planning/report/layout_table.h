// The layouts of a search's result as columns: those of its table `layouts`, or of its ranking where it has none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planning/report/json_value.h"

namespace ringwright::planning {

struct ListedLayout {
  std::vector<std::string> values;  // on the varied axes
  double memory_bytes = 0.0;
  double seconds = 0.0;  // the best that is known
  bool played = false;   // with the scenario's own models
};

// Axes with more than one value, in the order of the search.
[[nodiscard]] std::vector<std::string> varied_axes(const JsonValue& search);
// Those that fit, best first.
[[nodiscard]] std::vector<ListedLayout> listed_layouts(const JsonValue& search);
// Whether no other one is both faster and smaller, by layout.
[[nodiscard]] std::vector<bool> on_front(const std::vector<ListedLayout>& layouts);

}  // namespace ringwright::planning
