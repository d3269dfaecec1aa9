// Speeds of types of jobs from simulated training steps: each type alone on a machine, at sizes that double, in one
// host, in one unit, and over units.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/jobs/job_speed.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

// Names of the types, in their order.
[[nodiscard]] Result<std::vector<std::string>> types_of_machine(const std::string& machine);

struct NeededRates {
  int most = 1;                       // GPUs of a job
  Locality widest = Locality::kHost;  // at which jobs of several GPUs run
  // Whether jobs run on other GPUs than those they ask for at their best locality. Where none does, every speed is 1:
  // nothing is simulated, and there are no rates.
  bool elsewhere = true;
};
// `machine`: a scenario with `jobs`, which are the types. A size whose layout is invalid is left out; E486 where a type
// has none at a locality that is needed, where the machine is smaller than the largest job, where its hosts have not as
// many GPUs as those of `shape`, or where its units are smaller than a job in one unit of `shape`.
[[nodiscard]] Result<std::vector<SimulatedRates>> simulated_rates(const std::string& machine, const ClusterShape& shape,
                                                                  const NeededRates& needed,
                                                                  const Workers& workers = {});

}  // namespace ringwright::planning
