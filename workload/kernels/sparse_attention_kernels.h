// DeepSeek sparse attention (DeepSeek-V3.2, arXiv 2512.02556, section 2): an indexer scores all pairs of tokens with
// narrow heads, and each query attends to the k tokens with the highest scores.
//
// As Megatron-Core's fused backends run it (dsa.py, the absorbed layout): the projection of keys and values is absorbed
// into the queries and applied to the result, so that all heads of a query read the same k latent vectors. Its
// PyTorch fallback computes dense scores under a mask; that is not modelled. Formulas for T tokens, a heads, index
// heads n of d, latent vectors of r and a rotated part of p, v values of a head: index scores T n d s (half of all
// pairs), attention 2 T a k' (2r + p), k' the mean number of chosen tokens; backward scores again and four gradients,
// 2 T a k' (3 (r + p) + 2r). The indexer's loss compares its scores with the attention's, on the chosen tokens
// (dsa_indexer_use_sparse_loss), and trains the indexer alone: its inputs are detached.
#pragma once

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {

// Queries in the space of the latent vectors, and the vectors with their rotated part: instead of keys and values.
void add_absorbed_queries(KernelMaker& make);
void add_absorbed_queries_backward(KernelMaker& make);
// Indexer, choice, attention, values of heads; with the loss its forward and backward parts.
void add_sparse_core(KernelMaker& make);
void add_sparse_core_backward(KernelMaker& make);

// Bytes of a token that the core stores for the backward pass, besides the attention's statistics.
[[nodiscard]] double sparse_core_bytes(const KernelMaker& sizes, double value_bytes);
// Values of the working type of a token around the core, in addition to the projection's input and latent vectors.
[[nodiscard]] std::int64_t absorbed_columns(const KernelMaker& sizes);

// Columns of a token: what tensor-parallel ranks gather for the indexer, and the latent vector that all heads share.
[[nodiscard]] std::int64_t index_inputs(const ModelShape& shape);
[[nodiscard]] std::int64_t latent_keys(const ModelShape& shape);

}  // namespace ringwright::workload
