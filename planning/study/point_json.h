// A point as a part of JSON objects, the same in all studies.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "planning/study/point.h"

namespace ringwright::planning {

// "null" without a number.
[[nodiscard]] std::string json_number(const std::optional<double>& number);
// `, "tokens_are": "samples"`; empty for tokens.
[[nodiscard]] std::string json_processed(std::string_view processed);
// [{"cause": "exposed dp", "ps": 12}]
[[nodiscard]] std::string json_parts(std::span<const StepPart> parts);
// Keys without braces: "status", "code", "reason", "fingerprint", and the figures where it was simulated.
[[nodiscard]] std::string json_point(const Point& point);

}  // namespace ringwright::planning
