// Chakra traces as a task graph: the recorded step, played on any machine.
//
// GPU work is done in the order of the trace (by dependencies, then by id) on the compute stream, as long as recorded
// or computed from num_ops and tensor_size; work of the host on a stream of its own. Collectives of a process group run
// one after another, messages as soon as their dependencies allow. Nodes that name a stream run in order on it instead.
// Recorded times of communication are not used.
#pragma once

#include <cstdint>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replicas.h"

namespace ringwright::traces {

enum class ReplayTimes {
  kRecorded,  // duration_picos, else duration_micros
  kRoofline,  // the longer of num_ops at `peak` and tensor_size at `memory`; recorded where num_ops is not given
};

struct ReplayOptions {
  ReplayTimes times = ReplayTimes::kRecorded;
  double scale = 1.0;  // of all computing
  FlopRate peak;
  Bandwidth memory;
  ReplicaOptions replicas;
};

struct ChakraReplay {
  TaskGraph graph;  // without layouts: lay_out_groups adds them
  // Nodes that compute on the GPU, of all ranks, by where their time comes from; and those without any.
  std::int64_t recorded = 0;
  std::int64_t computed = 0;
  std::int64_t without_time = 0;
  double operations = 0.0;  // num_ops of all ranks
  // Of all ranks: collectives of no bytes, and nodes of no kind, which are left out.
  std::int64_t without_bytes = 0;
  std::int64_t without_kind = 0;
  std::int64_t in_some_dimensions = 0;  // collectives that ASTRA-sim would run over a part of its network
  Diagnostics warnings;
};

// All mistakes at once: of the graphs, the groups, and messages without partners.
[[nodiscard]] Result<ChakraReplay> replay_chakra(const ChakraJob& job, const ChakraGroups& groups,
                                                 const ReplayOptions& options = {});

}  // namespace ringwright::traces
