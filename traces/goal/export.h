// A simulated training step as a GOAL schedule. GOAL has no collectives: each is written as the messages of its
// algorithm, step by step; streams become cpus.
//
// A receive of a collective has no requirements, since libraries post their buffers ahead; a step's sends wait for all
// messages of the step before. What starts later than its dependencies allow, since the host had not issued it yet,
// waits for calcs of a cpu of the host that end then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/diagnostic.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "traces/chakra/export.h"
#include "traces/goal/schedule.h"

namespace ringwright::traces {

// A message of a collective, to or from another member.
struct GoalMessage {
  std::uint32_t peer = 0;  // index in the group
  Bytes size;
};

// A step of one member: it ends when all of its messages have arrived.
struct GoalStep {
  std::vector<GoalMessage> sends;
  std::vector<GoalMessage> receives;
};

// How the step's calls become messages.
class GoalCalls {
 public:
  virtual ~GoalCalls() = default;
  // Of a member of the group, by its index; or why these are not messages between ranks.
  [[nodiscard]] virtual tl::expected<std::vector<GoalStep>, std::string> steps(const CollectiveCall& call,
                                                                               const std::vector<RankId>& group,
                                                                               std::size_t member) = 0;
  // From a member's call to its first step, and from the sender's call until the message leaves.
  [[nodiscard]] virtual Duration before(const CollectiveCall& call) const = 0;
  [[nodiscard]] virtual Duration before(const MessageCall& message, RankId sender, RankId receiver) const = 0;
};

// Times are rounded to nanoseconds such that the total of a cpu is. Errors (E624): more than 20 million operations,
// more than 255 cpus in a rank, collectives that are no messages between ranks.
[[nodiscard]] Result<GoalSchedule> export_goal(const ChakraExport& step, GoalCalls& calls);

}  // namespace ringwright::traces
