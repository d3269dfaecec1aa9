// Parameter servers by the way in which they apply gradients, and against an all-reduce: speed, staleness, load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/server_study.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"

namespace ringwright::planning {

struct ServersRow {
  std::string updates;  // "sync", "ssp 3", "async"
  double samples_per_second = 0.0;
  Duration step;                // mean over the workers' steps
  double slowest_share = 0.0;   // speed of the slowest worker, of that of the fastest
  double mean_staleness = 0.0;  // updates of others between a worker's pull and its push
  std::uint64_t most_staleness = 0;
  double waiting = 0.0;      // share of the workers' time that the bound on staleness costs
  double exchanging = 0.0;   // the same, for parameters after their computing
  double server_busy = 0.0;  // of the busiest server's threads
  std::uint64_t longest_queue = 0;
};

struct ServersResult {
  std::string scenario;
  std::int64_t workers = 0;  // hosts
  std::int64_t servers = 0;
  Duration computing;                    // of a worker's step
  Duration ring;                         // the step with an all-reduce over the workers' hosts
  double ring_samples_per_second = 0.0;  // at the pace of the slowest worker
  std::vector<ServersRow> rows;
};

// What loading found odd; keys that only this study uses are without effect in `run` alone.
[[nodiscard]] Diagnostics server_warnings(const configs::Scenario& scenario);

// sync, ssp with the scenario's bound (3 where it has none) and async. The scenario must have parameter servers (E549).
[[nodiscard]] Result<ServersResult> study_servers(const configs::Scenario& scenario);

[[nodiscard]] std::string render_servers_text(const ServersResult& result);
// Schema "ringwright.servers/1" (docs/parameter-servers.md).
[[nodiscard]] std::string render_servers_json(const ServersResult& result);

}  // namespace ringwright::planning
