// The kernels outside of the layers: embedding, final norm, logits, and cross-entropy over a split vocabulary.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// Each takes the pieces of its part of the model and no others.
void add_embedding_sections(LayerSection section, const KernelContext& context, KernelMaker& make);
void add_head_sections(LayerSection section, const KernelContext& context, KernelMaker& make);
void add_predictor_sections(LayerSection section, KernelMaker& make);

}  // namespace ringwright::workload
