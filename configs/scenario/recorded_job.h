// Reads the job of a scenario that replays a recorded step.
#pragma once

#include <cstdint>

#include "configs/scenario/scenario.h"

namespace ringwright::configs {

// Instead of model, training and parallel; what would describe them is refused, or listed as ignored. Mistakes in
// traces go into `foreign`. `ranks`: of the job.
[[nodiscard]] Job read_recorded_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks,
                                    Diagnostics& foreign);

}  // namespace ringwright::configs
