// Pipeline stages of equal time: layers, embedding and logits as modelled by the compute model.
#pragma once

#include "core/config/config_map.h"
#include "core/ports/compute_model.h"
#include "workload/kernels/layer_kernels.h"
#include "workload/layout/known_layouts.h"
#include "workload/options/layer_balance.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Compute seconds of one rank for a microbatch, forward and backward, without communication.
[[nodiscard]] LayerCosts layer_costs(const ModelShape& shape, const TrainingOptions& training,
                                     const ParallelOptions& parallel, const ComputeModel& compute);

// One pass of a dense layer, without communication.
struct PassTime {
  double device = 0.0;  // seconds of its kernels, one after another
  double host = 0.0;    // host seconds to issue them
};
struct LayerPasses {
  PassTime forward;
  PassTime backward;
};
[[nodiscard]] LayerPasses dense_layer_passes(const KernelContext& context, const ComputeModel& compute);

// With stage_layers: balanced, fills options.layers_per_part and reports the split; else does nothing. `known`:
// what layouts before this one with the same compute model have found; null: none.
void balance_stages(ConfigMap& parallel, const ModelShape& shape, const TrainingOptions& training,
                    const ComputeModel& compute, ParallelOptions& options, KnownLayouts* known = nullptr);

}  // namespace ringwright::workload
