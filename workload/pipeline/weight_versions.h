// Pipelines that never run empty: weights are updated while microbatches are under way that began with older ones.
//
// PipeDream (Narayanan et al., SOSP 2019, arXiv 1806.03377): stage i works p - 1 - i forward passes ahead of its
// backward passes, also across updates, and keeps the weights with which each of those microbatches went forward. With
// an update for every microbatch these are p - i versions, the newest included; with one for every m microbatches 1 +
// ceil((p - 1 - i) / m). PipeDream-2BW (arXiv 2006.09503) keeps two on every stage, for m >= p.
#pragma once

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

enum class WeightVersions { kOne, kStashed, kTwo };

// Forward passes of a stage that are done before the step whose backward passes they belong to; 0 where every step
// empties the pipeline.
[[nodiscard]] int passes_ahead(WeightVersions versions, int stages, int stage);
// Of the weights, with the newest.
[[nodiscard]] int weight_versions(WeightVersions versions, int stages, int stage, int microbatches);
// Training steps after which a run is in its steady state: each of 2 p microbatches has met every stage.
[[nodiscard]] int steps_until_steady(WeightVersions versions, int stages, int microbatches);
// A step amid others: what a stage does ahead, then a forward pass and a backward pass in turn.
[[nodiscard]] PipelineOrder steady_order(const ScheduleRequest& request);

}  // namespace ringwright::workload
