// Several jobs as one task graph on the GPUs of one machine: each job has programs of its own, and dimensions of equal
// names are one dimension with the groups of all of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"

namespace ringwright {

struct PlacedJob {
  const TaskGraph& graph;     // of the job alone, without layouts
  std::vector<RankId> gpus;   // by rank of the job: the GPU that it runs on, each once; jobs may name the same ones
  JobSpec spec;
  // False: its GPUs are idle; dimensions stay numbered as with it, and with them the routes of others.
  bool runs = true;
};

// Rank r of the result is on GPU r of the machine; GPUs without a job have an empty program. Ranks of jobs on GPUs that
// an earlier job has follow after all GPUs, and TaskGraph::sharing has the GPU of each; the rule is the caller's.
// Background traffic and slowdowns are those of the machine, not of a job.
[[nodiscard]] TaskGraph merge_jobs(std::span<const PlacedJob> jobs, std::size_t gpus);

}  // namespace ringwright
