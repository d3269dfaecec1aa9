// Traces of a profiler as a job that can be replayed: what the GPU of each rank did in one step, stream by stream.
//
// Kernels and copies take their recorded time, in the order of their streams; collectives whose size is recorded are
// simulated. What waits for what is not recorded, and follows from the order of launches and from times:
//
// * A collective waits for the last work that was launched before it and communicates nothing, as PyTorch's process
//   groups wait for the stream that they are called from.
// * Other work waits for work of another stream that ended before it began, and after the work before it on its own
//   stream had ended: the latest of these, unless it was launched later than that.
// * What remains between the end of these and its start is time of the host, and stays as it is.
//
// With collectives that take their recorded time, a replay therefore takes the recorded step.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

struct KinetoJob {
  ChakraJob job;
  ChakraGroups groups;
  Duration recorded;  // the step: the longest over the ranks
  Diagnostics warnings;
};

// Of the last step that is marked, else of the whole traces. `ranks`: of the job. The traces of all of them, or of one:
// then all ranks do the same, in the groups that follow from its own by position.
// `compute_scale`: of the work of the GPU but not of communication that takes its recorded time, nor of the host's
// time.
[[nodiscard]] Result<KinetoJob> kineto_as_job(const std::vector<KinetoTrace>& traces, std::size_t ranks,
                                              double compute_scale = 1.0);

}  // namespace ringwright::traces
