// The process groups of all ranks of a job whose profiler's traces are replayed, from the calls that were recorded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/chakra/groups.h"
#include "traces/kineto/kineto_trace.h"
#include "traces/kineto/step_work.h"

namespace ringwright::traces {

struct RankGroups {
  std::size_t trace = 0;           // the rank does what this trace recorded
  std::vector<std::string> names;  // of its groups, by RankCalls::groups; empty: not used, or all ranks
};

struct JobGroups {
  ChakraGroups groups;
  std::vector<RankGroups> ranks;
  Diagnostics warnings;
};

// Fills the members of the steps' calls, and gives all calls of one collective the size of the largest. One trace
// stands for all ranks: a group whose ranks are evenly spaced is repeated over the job. Errors: ranks without a trace,
// groups whose ranks are not known or that cannot be repeated, members of a group that make different calls.
[[nodiscard]] Result<JobGroups> groups_of_ranks(const std::vector<KinetoTrace>& traces, std::size_t ranks,
                                                std::vector<StepWork>& steps);

}  // namespace ringwright::traces
