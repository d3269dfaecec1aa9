// How far a number can be trusted: every input has an evidence level, and every report prints the levels of its inputs.
#pragma once

#include <optional>
#include <string_view>

namespace ringwright {

// From strongest to weakest; a result is as good as its weakest input.
enum class Evidence { kMeasured, kCalibrated, kVendorSpec, kAssumed };

[[nodiscard]] constexpr std::string_view to_string(Evidence level) {
  switch (level) {
    case Evidence::kMeasured: return "measured";
    case Evidence::kCalibrated: return "calibrated";
    case Evidence::kVendorSpec: return "vendor-spec";
    case Evidence::kAssumed: return "assumed";
  }
  return "";
}

[[nodiscard]] constexpr std::optional<Evidence> parse_evidence(std::string_view text) {
  for (const Evidence level : {Evidence::kMeasured, Evidence::kCalibrated, Evidence::kVendorSpec, Evidence::kAssumed}) {
    if (text == to_string(level)) return level;
  }
  return std::nullopt;
}

}  // namespace ringwright
