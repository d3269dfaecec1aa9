// What a search starts from: a scenario whose own layout need not fit its machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "planning/search/search_space.h"

namespace ringwright::planning {

struct SearchBase {
  std::unique_ptr<configs::Scenario> read;  // as in the file, where `scenario` is a change of it; outlives it
  configs::Scenario scenario;        // with its own layout, or with the first one of the space that is legal
  std::string own_problem;  // why the scenario's own layout is not legal on this machine; empty when it is
};

// Mistakes of the file, or those of its own layout where no layout of the space is legal. `others`: axes in addition to
// those that the scenario gives.
[[nodiscard]] Result<SearchBase> load_search_base(const std::string& path, const configs::ScenarioOptions& options,
                                                  const std::vector<configs::SearchAxis>& others);

}  // namespace ringwright::planning
