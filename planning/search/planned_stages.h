// Layouts of a search whose stages get layers and ranks of their own (`stage_layers: alpa`): what the dynamic program
// of planning/stages needs to know of the modelled layers.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/planner.h"
#include "planning/search/search_space.h"
#include "planning/stages/mesh_plans.h"

namespace ringwright::planning {

// What a thread of a search predicts layouts with.
struct StagePlanInputs {
  const configs::Scenario& base;
  const SearchSpace& space;
  configs::Scenario& mine;  // its job is replaced
  configs::Planner& planner;
  Bytes capacity;  // of a GPU
};

// The layout with each plan of the dynamic program, the fastest first by its own estimate; empty: it finds none.
[[nodiscard]] std::vector<Layout> with_planned_stages(const StagePlanInputs& inputs, const Layout& layout);

}  // namespace ringwright::planning
