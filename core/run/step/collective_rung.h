// Chooses the fidelity level of the collectives of a run: steps over a network, kernels on channels, or formulas.
#pragma once

#include <memory>

#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"
#include "core/run/step/executor.h"

namespace ringwright {

// The level that the inputs request.
[[nodiscard]] std::unique_ptr<CollectiveRunner> make_collective_runner(PlayedJob& job, const ExecutorInputs& inputs);

}  // namespace ringwright
