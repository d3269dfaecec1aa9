// A lower bound of a training step that needs no plan of it: the schedule's passes on an instantaneous network
// (pipeline/timeline.h), each as long as its chunk computes.
//
// A pass takes at least what it computes, and begins at the earliest when the passes that it depends on, and the one
// before it on its stage, have ended. Communication, buckets, the optimizer and hosts that issue kernels only lengthen
// a step; they are left out. Kernels are those that the writers of the step put on the compute stream (point_writer.h).
#pragma once

#include <optional>

#include "core/base/units.h"
#include "core/ports/compute_model.h"
#include "workload/options/step_inputs.h"

namespace ringwright::workload {

// Nothing where ranks of one stage compute differently, or kernels are cut for the sake of communication. Of the first
// step of a run: steps that follow each other may overlap. Where that has very many passes, only those of the busiest
// stage are added up.
[[nodiscard]] std::optional<Duration> least_step(const StepInputs& inputs, const ComputeModel& compute);

}  // namespace ringwright::workload
