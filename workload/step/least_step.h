// A lower bound of a training step that needs no plan of it: the schedule's passes on an instantaneous network
// (pipeline/timeline.h), each as long as its chunk computes and exchanges.
//
// A pass takes at least the longest paths through its points (program/piece_path.h), and begins at the earliest when
// the passes that it depends on, and the one before it on its stage, have ended. Where gradients are not reduced during
// the passes, the first stage exchanges them after its last pass, and then the parameters. Messages between stages,
// other exchanges, the optimizer and hosts that issue kernels only lengthen a step; they are left out. Points are
// written by the writers of the step (point_writer.h, stage_replicas.h).
#pragma once

#include <optional>

#include "core/base/units.h"
#include "core/ports/compute_model.h"
#include "workload/options/step_inputs.h"
#include "workload/program/piece_path.h"

namespace ringwright::workload {

struct KnownLayouts;

// Nothing where ranks of one stage compute differently, or kernels are cut for the sake of communication. Of the first
// step of a run: steps that follow each other may overlap. Where that has very many passes, only those of the busiest
// stage are added up. Without `calls` no communication counts. `known`: of layouts before this one; null: none.
[[nodiscard]] std::optional<Duration> least_step(const StepInputs& inputs, const ComputeModel& compute,
                                                 const LeastCallTime& calls = {}, KnownLayouts* known = nullptr);

}  // namespace ringwright::workload
