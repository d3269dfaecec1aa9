// The job of a scenario whose step is a recorded one: `workload: {chakra: PREFIX}` instead of model, training and
// parallel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/kernel.h"
#include "core/plan/task_graph.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::configs {

struct TraceJob {
  std::string name;                      // of the traces, without their folder
  std::string compute;                   // "recorded", "scaled", "roofline"
  DataType precision = DataType::kBf16;  // whose peak counts
  TaskGraph graph;                       // without layouts
  Flops operations;                      // of a step, where the nodes state them
  Duration recorded;                     // the time of the recorded step, where the recording states it
  std::int64_t replicas = 1;             // data-parallel ones of the recorded job
};

// The cluster that replays the step.
struct TraceMachine {
  const workload::GpuSpec& gpu;
  std::int64_t ranks = 1;
  std::int64_t gpus_per_host = 1;
};

// Reads `workload`; mistakes in the traces go into `foreign`.
[[nodiscard]] TraceJob read_trace_job(ConfigMap& workload, const TraceMachine& machine, Diagnostics& foreign);

// The dimensions with collectives, which may have algorithms of their own.
[[nodiscard]] std::vector<std::string> dimension_names_of(const TraceJob& trace);

}  // namespace ringwright::configs
