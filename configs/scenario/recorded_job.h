// Reads the job of a scenario that replays a recorded step.
#pragma once

#include "configs/scenario/scenario.h"

namespace ringwright::configs {

// Instead of model, training and parallel; what would describe them is refused, or listed as ignored. Mistakes in
// traces go into `foreign`.
[[nodiscard]] Job read_recorded_job(ConfigMap root, const Cluster& cluster, Diagnostics& foreign);

}  // namespace ringwright::configs
