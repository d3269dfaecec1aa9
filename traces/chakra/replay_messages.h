// Which send of a replay each receive takes: the n-th receive of a tag from a rank takes the n-th send of that tag.
//
// The executor matches by order alone, not by tag. Where a receiver takes messages of several tags in another order
// than they are sent, they go in several queues, in each of which both orders agree. Messages of a process group have
// queues of their own, one for each channel of its dimension; what does not fit there passes among all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replay_calls.h"
#include "traces/chakra/replay_groups.h"

namespace ringwright::traces {

struct MessageQueue {
  bool in_group = true;  // of the group that its node names, if it names one; else of all ranks
  std::uint32_t number = 0;
};

struct MessageQueues {
  // Of messages that are not in queue 0 of their group: by rank, and the position of the send or receive in its trace.
  std::map<std::pair<std::uint32_t, std::uint32_t>, MessageQueue> queue_of;
  std::uint32_t count = 0;  // of queues among all ranks; 0: no such messages

  [[nodiscard]] MessageQueue of(std::uint32_t rank, std::uint32_t node) const {
    const auto found = queue_of.find({rank, node});
    return found == queue_of.end() ? MessageQueue() : found->second;
  }
};

// Errors are messages without a partner, with their count; and pairs that disagree about the size. `calls`: by trace.
[[nodiscard]] Result<MessageQueues> match_messages(const ChakraJob& job, const ReplayGroups& groups,
                                                   const std::vector<TraceCalls>& calls);

}  // namespace ringwright::traces
