// How the step time of a scenario responds to each of its physical parameters: one at a time, a little up and down.
//
//   elasticity   relative change of the step time / relative change of the parameter, over both sides: -0.5 says that
//                1 % more of it saves half a percent
//
// A parameter is a bandwidth, a latency, a rate, or a plain number or share of the machine and its software: what
// `cluster`, `compute`, `comm` and `interference` set, defaults and presets included. Counts and choices are none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/evidence.h"
#include "planning/study/point.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

// The step at another value; no time where that scenario is refused, as for a share above 1.
struct ParameterSide {
  std::string value;
  std::optional<Duration> step;
  std::string reason;
};

struct ParameterResponse {
  std::string key;
  std::string value;  // in the scenario
  Evidence evidence = Evidence::kAssumed;
  ParameterSide low;
  ParameterSide high;
  double elasticity = 0.0;  // of one side alone where the other is refused
};

struct SensitivityResult {
  std::string scenario;
  double share = 0.1;                        // of the parameter, up and down
  Duration step;                             // of the scenario as it stands
  std::vector<ParameterResponse> responses;  // that matter, the strongest first
  std::vector<std::string> without_effect;   // keys, sorted
  std::vector<std::string> not_varied;       // keys in entries of lists, which cannot be set alone
  std::vector<std::string> unknown;          // refused on both sides, with the reason
};

// "10%" or 0.1, above 0 and below 1.
[[nodiscard]] std::optional<double> parse_share(std::string_view text);

struct SensitivityOptions {
  double share = 0.1;
  Workers workers;
  configs::OverheadStore* store = nullptr;  // where overheads of calls are retained; null: nowhere
};

[[nodiscard]] Result<SensitivityResult> sensitivity(const std::string& path, const std::vector<std::string>& settings,
                                                    const SensitivityOptions& options = {});

// The `top` strongest, with bars.
[[nodiscard]] std::string render_sensitivity_text(const SensitivityResult& result, std::size_t top = 20);
// Schema "ringwright.sensitivity/1" (docs/what-if.md).
[[nodiscard]] std::string render_sensitivity_json(const SensitivityResult& result);

}  // namespace ringwright::planning
