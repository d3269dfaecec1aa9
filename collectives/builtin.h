// The table of collective algorithms.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

[[nodiscard]] std::span<const CollectiveAlgorithm* const> algorithms();
// Null when no algorithm has that name.
[[nodiscard]] const CollectiveAlgorithm* find_algorithm(std::string_view name);
// In table order, for messages and lists of options.
[[nodiscard]] std::vector<std::string> algorithm_names();

}  // namespace ringwright::collectives
