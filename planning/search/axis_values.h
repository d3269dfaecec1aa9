// The values of an axis that a search tries where none are given: those that model and machine allow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/scenario/search_settings.h"

namespace ringwright::planning {

// `settings`: a batch that is varied has microbatches of its own.
[[nodiscard]] std::vector<std::string> axis_values(std::string_view axis, const configs::Scenario& scenario,
                                                   const configs::SearchSettings& settings);

// What a scenario sets, in the words of the axes `sharding` and `recompute`.
[[nodiscard]] std::string sharding_word(const workload::ParallelOptions& parallel, const ConfigDocument& document);
[[nodiscard]] std::string recompute_word(workload::Recompute recompute);

}  // namespace ringwright::planning
