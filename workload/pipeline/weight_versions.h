// Pipelines without flush: weights are updated while microbatches with older weights are in flight.
//
// PipeDream (Narayanan et al., SOSP 2019, arXiv 1806.03377): stage i runs p - 1 - i forward passes ahead of its
// backward passes, also across updates, and stores the weights of each of those microbatches' forward passes. With an
// update for every microbatch these are p - i versions, the newest included; with one for every m microbatches 1 +
// ceil((p - 1 - i) / m). PipeDream-2BW (arXiv 2006.09503) stores two on every stage, for m >= p.
#pragma once

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

enum class WeightVersions { kOne, kStashed, kTwo };

// Forward passes of a stage that run before the step of their backward passes; 0 if every step flushes the pipeline.
[[nodiscard]] int passes_ahead(WeightVersions versions, int stages, int stage);
// Versions of the weights, including the newest.
[[nodiscard]] int weight_versions(WeightVersions versions, int stages, int stage, int microbatches);
// Training steps until the steady state: each of 2 p microbatches has visited every stage.
[[nodiscard]] int steps_until_steady(WeightVersions versions, int stages, int microbatches);
// A step in steady state: the passes ahead, then forward and backward passes alternately.
[[nodiscard]] PipelineOrder steady_order(const ScheduleRequest& request);

}  // namespace ringwright::workload
