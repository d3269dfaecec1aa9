// How many hosts are servers: a plan that follows the speed of the job, as DLRover's (Wang et al., arXiv 2304.01468).
//
// The job begins with the scenario's servers. After some steps with a plan its samples per second are known; of the
// plans with half, twice, one less and one more server on the same hosts the fastest is next, until none is faster by
// more than kWorthMoving. A worker keeps its samples, so that the global batch follows the number of workers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::planning {

struct ServerPlanTried {
  std::int64_t servers = 0;
  std::int64_t workers = 0;  // hosts
  double samples_per_second = 0.0;
  bool taken = false;  // the job ran with it
};

struct ServerPlan {
  std::string scenario;
  std::string updates;                 // of the job: "sync", "ssp 3", "async"
  std::vector<ServerPlanTried> tried;  // in that order; the first is the scenario's, the last taken one the best

  [[nodiscard]] const ServerPlanTried& best() const;
  // Samples per second of the best plan over those of the scenario's.
  [[nodiscard]] double gain() const;
};

// The scenario with further settings.
using ServerScenario = std::function<Result<configs::Scenario>(const std::vector<std::string>& more)>;

// E549 where the scenario has no dedicated servers.
[[nodiscard]] Result<ServerPlan> plan_servers(const ServerScenario& load);

[[nodiscard]] std::string render_server_plan_text(const ServerPlan& plan);
// Schema "ringwright.server_plan/1" (docs/parameter-servers.md).
[[nodiscard]] std::string render_server_plan_json(const ServerPlan& plan);

}  // namespace ringwright::planning
