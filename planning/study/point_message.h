// A point as a text that another process reads back without loss.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "planning/study/point.h"

namespace ringwright::planning {

[[nodiscard]] std::string packed(const Point& point);
// Empty for a text that packed() did not write.
[[nodiscard]] std::optional<Point> unpacked(std::string_view message);

}  // namespace ringwright::planning
