// A layer table trained with parameter servers, by how servers apply gradients, and by an all-reduce.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/run/servers/server_run.h"
#include "workload/layered/layered_layout.h"

namespace ringwright::configs {

struct ServerMode {
  workload::ServerUpdates updates = workload::ServerUpdates::kSync;
  std::int64_t staleness = 0;  // kStaleSync
};

// What a worker does by itself: a step of one host, with the reduction within it, and when its buckets are complete.
struct WorkerStep {
  Duration step;
  std::vector<ServerBucket> buckets;
};
[[nodiscard]] Result<WorkerStep> worker_step(const Scenario& scenario);

// Of a scenario whose layer table has parameter servers. Workers are the hosts without a dedicated server; hosts that
// `faults` slow down are slow workers. E549 where the run does not end.
[[nodiscard]] Result<ServerRunResult> run_parameter_servers(const Scenario& scenario, const WorkerStep& worker,
                                                            const ServerMode& mode);

// Step time of equal workers without servers, by a ring over their hosts that overlaps with the backward pass:
// each bucket takes 2 (n - 1) / n of its bytes at a host's bandwidth, one after another, once it is complete.
[[nodiscard]] Duration ring_step(const Scenario& scenario, const WorkerStep& worker);

}  // namespace ringwright::configs
