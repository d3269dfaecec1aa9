// Measured outcomes of jobs with failures: a table of cases, each a goodput file with values to set and one figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/operation/goodput.h"

namespace ringwright::validation {

// kBound: the figure is at least the measured one. kImplied: an input was solved from the outcome, so that it shows
// consistency and not accuracy.
enum class CaseRole { kOutcome, kBound, kImplied };

struct ReliabilityCase {
  std::string id;
  std::string operation;
  std::vector<std::string> settings;
  std::string policy;  // empty: the file's
  std::string metric;
  double measured = 0.0;
  CaseRole role = CaseRole::kOutcome;
  std::string source;
  Place place;
};

[[nodiscard]] Result<std::vector<ReliabilityCase>> read_reliability_cases(const std::string& path);

// The figure of a result; empty for an unknown metric or a policy that was not simulated.
[[nodiscard]] std::optional<double> figure_of(const planning::GoodputResult& result, const ReliabilityCase& wanted);

}  // namespace ringwright::validation
