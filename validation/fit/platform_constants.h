// The constants of a platform that a calibration may fit: few, named, physical, each with its bounds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "configs/scenario/scenario.h"
#include "validation/fit/class_fit.h"

namespace ringwright::validation {

enum class ConstantUnit { kMicroseconds, kGigabytesPerSecond, kShare };
enum class ConstantOf { kKernels, kNetwork };

struct PlatformConstant {
  std::string_view path;  // of the scenario
  std::string_view doc;
  ConstantUnit unit = ConstantUnit::kMicroseconds;
  ConstantOf of = ConstantOf::kKernels;  // network: affects only calls between hosts
  double low = 0.0;                      // in the unit, as `high` and the class value
  double high = 0.0;
  double spread = 0.0;  // of the logarithm: how far platforms of one class differ from its value
  double (*class_value)(const configs::Scenario& scenario) = nullptr;  // of a machine whose scenario does not set it

  // Input of the fit on this machine.
  [[nodiscard]] ClassConstant on(const configs::Scenario& scenario) const;
};

[[nodiscard]] std::span<const PlatformConstant> platform_constants();
// "8.1us", as a scenario writes it.
[[nodiscard]] std::string value_text(const PlatformConstant& constant, double value);

}  // namespace ringwright::validation
