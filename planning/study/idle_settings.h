// Which settings of a point have no effect in it, as a study names them below its table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planning/study/point.h"

namespace ringwright::planning {

// "cluster.node.nic.bandwidth has no effect: there is one host": for each of `settings` ("KEY=VALUE", also of a map
// above or below the key) that the point ignores.
[[nodiscard]] std::vector<std::string> idle_settings(const Point& point, std::span<const std::string> settings);

}  // namespace ringwright::planning
