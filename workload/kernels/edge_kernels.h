// The kernels outside the layers: embedding, final norm, logits, and cross-entropy over a split vocabulary.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// Each handles the sections of its part of the model only.
void add_embedding_sections(LayerSection section, const KernelContext& context, KernelMaker& make);
void add_head_sections(LayerSection section, const KernelContext& context, KernelMaker& make);
void add_predictor_sections(LayerSection section, KernelMaker& make);

}  // namespace ringwright::workload
