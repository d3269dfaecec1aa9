// Ranks of calls whose group a trace does not record, as the user states them by stream: "363=0,8".
//
// PyTorch runs the calls of a process group on a stream of their own, so that a stream stands for a group.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/calls/recorded_call.h"

namespace ringwright::validation {

struct StreamGroup {
  int stream = 0;
  std::vector<int> ranks;
};
// Errors: text of another form, fewer than two ranks, a rank that the job does not have.
[[nodiscard]] Result<std::vector<StreamGroup>> parse_stream_groups(const std::vector<std::string>& texts,
                                                                   int world_size);

// Error: a stream that has no call.
[[nodiscard]] Diagnostics place_streams(const std::vector<StreamGroup>& groups, traces::RankCalls& calls);

}  // namespace ringwright::validation
