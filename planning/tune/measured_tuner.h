// The fastest setting of NCCL for each size, from logs of nccl-tests: one log for each setting, and one without any.
//
// AFNFA (Zheng et al., APNet 2023) learns from measured calls which setting is fastest. Here times between two measured
// sizes follow the line through both in logarithms of size and time, and nothing is claimed outside the measured sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/tune/tune.h"

namespace ringwright::planning {

struct MeasuredSetting {
  CallSetting setting;  // without an algorithm: NCCL's own choice
  std::string log;      // a file

  [[nodiscard]] bool is_own() const { return setting.algorithm.empty(); }
};

// "own=a.log", "ring/ll128=b.log", "tree/simple/16=c.log"; E521 for other texts.
[[nodiscard]] Result<MeasuredSetting> parse_measured(std::string_view text);

// A call for each size of NCCL's own log of an operation. E521 where an operation has no log of NCCL's own choice, or
// logs are of different numbers of ranks and hosts.
[[nodiscard]] Result<TuneResult> tune_by_measurements(const std::vector<MeasuredSetting>& measured,
                                                      double least_gain = 0.01);

}  // namespace ringwright::planning
