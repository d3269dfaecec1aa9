// A recorded job several times over: its ranks are those of one data-parallel replica, and their number grows.
//
// Rank r of replica k is rank k * recorded + r. Data-parallel process groups have the members of all replicas, in the
// order of the replicas; all other groups, and messages, stay within a replica. A collective keeps its size: gradients
// that are reduced, parameters that are gathered from more and smaller shards. Computing is as recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/plan/task_graph.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replay_calls.h"
#include "traces/chakra/replay_groups.h"

namespace ringwright::traces {

struct ReplicaOptions {
  std::uint32_t count = 1;
  // Names of the data-parallel process groups; empty: the groups of all recorded ranks.
  std::vector<std::string> data_parallel;
};

// What add_replicas multiplies.
struct RecordedStep {
  const ChakraJob& job;
  const ReplayGroups& groups;
  const std::vector<TraceCalls>& calls;  // by trace
};

// Makes the graph of one recorded step that of `count` replicas. Errors: a name that is no group of the traces; no
// data-parallel group at all, so that replicas would not communicate. The result are warnings: collectives of
// data-parallel groups whose ranks compute less in a larger job, which the recorded times do not have.
[[nodiscard]] Result<Diagnostics> add_replicas(const RecordedStep& step, const ReplicaOptions& options,
                                               TaskGraph& graph);

}  // namespace ringwright::traces
