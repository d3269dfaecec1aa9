// The coordinate descent of AutoCCL (NSDI 2025) through settings of NCCL's kernels with one algorithm and protocol.
//
// Channels are halved and doubled as long as that is faster; so are threads and buffers, one coordinate after another,
// until none of them is faster. The premise is a time with one minimum along each coordinate.
#pragma once

#include <functional>
#include <optional>

#include "core/base/units.h"
#include "planning/tune/call_setting.h"

namespace ringwright::planning {

// Nothing where NCCL does not take the setting. Fills in the channels where they were NCCL's.
using TimeOfSetting = std::function<std::optional<Duration>(CallSetting& setting)>;

struct DescentRules {
  int most_channels = 32;
  bool kernels = false;  // threads and buffers, too
};

// From NCCL's number of channels on; nothing where NCCL does not take the algorithm and protocol.
[[nodiscard]] std::optional<TriedSetting> descend(CallSetting setting, const DescentRules& rules,
                                                  const TimeOfSetting& time_of);

}  // namespace ringwright::planning
