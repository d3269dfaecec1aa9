// The constants of a platform that a calibration may fit: few, named, physical, each with its bounds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "validation/bounded_fit.h"

namespace ringwright::validation {

enum class ConstantUnit { kMicroseconds, kGigabytesPerSecond, kShare, kKibibytes };
enum class ConstantOf { kKernels, kNetwork };

struct PlatformConstant {
  std::string_view path;  // of the scenario
  std::string_view doc;
  ConstantUnit unit = ConstantUnit::kMicroseconds;
  ConstantOf of = ConstantOf::kKernels;  // network: seen only by calls between hosts
  FitConstant bounds;
};

[[nodiscard]] std::span<const PlatformConstant> platform_constants();
// "8.1us", as a scenario writes it.
[[nodiscard]] std::string value_text(const PlatformConstant& constant, double value);

}  // namespace ringwright::validation
