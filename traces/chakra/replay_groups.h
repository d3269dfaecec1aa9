// The process groups of a replay as dimensions of a task graph.
//
// A dimension divides all ranks into groups. Groups of one shape (the same distances between their ranks) that share no
// rank are one dimension, so that groups of tensor parallelism are one, those of data parallelism another. Ranks that
// no group of a dimension has are groups of their own there. Messages that name a group of both their ranks pass within
// it, as in a communicator, whose size NCCL's channels for each peer depend on; the others pass among all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/plan/task_graph.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replay_calls.h"

namespace ringwright::traces {

struct ReplayGroup {
  std::uint32_t dimension = 0;
  std::uint32_t index = 0;  // in the dimension
  std::uint32_t ranks = 1;  // with a single rank its collectives take no time, and it is in no dimension
  bool has_collectives = true;
  bool takes_messages = false;  // all messages that name it are between its ranks
};

struct ReplayGroups {
  std::vector<Dimension> dimensions;
  std::map<std::string, ReplayGroup, std::less<>> by_name;  // those in use; all ranks have the empty name

  [[nodiscard]] const ReplayGroup& of(std::string_view name) const { return by_name.find(name)->second; }
  // The dimension in which a message passes that names a group; none: among all ranks.
  [[nodiscard]] std::optional<std::uint32_t> of_message(std::string_view name) const;
  // Groups with collectives may grow by replicas, in which a peer is no longer at the same distance.
  void keep_messages_out_of_collectives();
};

// The groups that collectives and messages use. Errors are names of collectives without a group, ranks that call
// collectives of a group that they are not in, and members of a group that call different collectives.
// `calls`: by trace.
[[nodiscard]] Result<ReplayGroups> replay_groups(const ChakraJob& job, const ChakraGroups& groups,
                                                 const std::vector<TraceCalls>& calls);

}  // namespace ringwright::traces
