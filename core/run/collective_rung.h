// Which rung of the ladder plays the collectives of a run: steps over a network, kernels on channels, or formulas.
#pragma once

#include <memory>

#include "core/run/collective_runner.h"
#include "core/run/executor.h"
#include "core/run/played_job.h"

namespace ringwright {

// The rung that the inputs ask for.
[[nodiscard]] std::unique_ptr<CollectiveRunner> make_collective_runner(PlayedJob& job, const ExecutorInputs& inputs);

}  // namespace ringwright
