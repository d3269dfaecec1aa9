// The kernels of an attention layer between its norm and its residual addition, whole and in the sections between which
// context-parallel ranks communicate.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

void add_attention_sections(LayerSection section, const KernelContext& context, KernelMaker& make);

void add_attention_norm(KernelMaker& make);
// Latent attention's GEMMs from the residual stream to the latent vectors, which every tensor-parallel rank runs for
// its part of the sequence before the vectors are gathered. Empty for other models.
void add_latent_down(KernelMaker& make);
void add_latent_down_backward(KernelMaker& make);
// Values of one token that are gathered before the split GEMMs: its vector of the residual stream, or with latent
// attention the latent vectors.
[[nodiscard]] std::int64_t gathered_columns(const ModelShape& shape);

}  // namespace ringwright::workload
