// Which send of a replay each receive takes: the n-th receive of a tag from a rank takes the n-th send of that tag.
//
// The executor matches by order alone, not by tag. Where a receiver takes messages of several tags in another order
// than they are sent, they go in several queues, in each of which both orders agree.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replay_calls.h"

namespace ringwright::traces {

struct MessageQueues {
  // Of messages that are not in queue 0: by rank, and the position of the send or receive in its trace.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> queue_of;
  std::uint32_t count = 0;  // of queues; 0: no messages

  [[nodiscard]] std::uint32_t of(std::uint32_t rank, std::uint32_t node) const {
    const auto found = queue_of.find({rank, node});
    return found == queue_of.end() ? 0 : found->second;
  }
};

// Errors are messages without a partner, with their count; and pairs that disagree about the size. `calls`: by trace.
[[nodiscard]] Result<MessageQueues> match_messages(const ChakraJob& job, const std::vector<TraceCalls>& calls);

}  // namespace ringwright::traces
