// The kernels of an attention layer between its norm and its residual addition, whole and in the parts between which
// context-parallel ranks talk.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_attention_sections(LayerSection section, const KernelContext& context, KernelMaker& make);

void add_attention_norm(KernelMaker& make);
// Latent attention's products from the residual stream to the latent vectors, which every tensor-parallel rank does for
// its part of the sequence before the vectors are gathered. Nothing for other models.
void add_latent_down(KernelMaker& make);
void add_latent_down_backward(KernelMaker& make);
// Values of one token that are gathered before the products that are split: its vector of the residual stream, or with
// latent attention the latent vectors.
[[nodiscard]] std::int64_t gathered_columns(const ModelShape& shape);

}  // namespace ringwright::workload
