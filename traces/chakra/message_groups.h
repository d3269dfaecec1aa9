// The process groups that sends and receives of traces name.
#pragma once

#include <vector>

#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replay_calls.h"

namespace ringwright::traces {

// Those with several ranks of the job, where all messages that name the group are between its ranks; in the order of
// `groups`. `calls`: by trace.
[[nodiscard]] std::vector<const ChakraGroup*> groups_of_messages(const ChakraJob& job, const ChakraGroups& groups,
                                                                 const std::vector<TraceCalls>& calls);

}  // namespace ringwright::traces
