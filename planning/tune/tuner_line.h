// A line of a file that NCCL's example tuner plug-in reads.
#pragma once

#include <cstdint>
#include <string>

#include "configs/simulation/collective_run.h"
#include "planning/tune/call_setting.h"

namespace ringwright::planning {

inline constexpr std::int64_t kTunerNoLimit = 4294967295;  // "and above" in the plug-in's files

// Which calls: sizes, inclusive, and the communicator; -1: any.
struct TunerCalls {
  std::int64_t least_bytes = 0;
  std::int64_t most_bytes = kTunerNoLimit;
  std::int64_t hosts = -1;
  std::int64_t ranks = -1;
};

// "allreduce,0,65536,tree,ll,2,-1,-1", with a line break. Without channels: as many as NCCL takes.
[[nodiscard]] std::string tuner_line(configs::CollectiveOperation operation, const TunerCalls& calls,
                                     const CallSetting& setting);

}  // namespace ringwright::planning
