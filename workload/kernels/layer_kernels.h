// The kernels of one tensor-parallel rank for one microbatch: forward and backward, split into layer sections at the
// points of communication.
//
// GEMMs have 2mnk FLOPs (Megatron's num_floating_point_operations); a backward pass has one GEMM for the input's
// gradient (dgrad) and one for the weight's (wgrad), which is added to the main gradient in its epilogue. Fused
// attention: 2bs^2(ad) FLOPs forward (causal), 2.5 times that backward, since it recomputes the scores
// (FlashAttention-2, arXiv 2307.08691). All other kernels count bytes only: their arithmetic does not limit them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/kernel.h"
#include "workload/model/model_shape.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

struct KernelContext {
  ModelShape shape;
  TrainingOptions training;
  std::int64_t tp = 1;
  bool sequence_parallel = false;
  bool async_reduce = true;
  bool keep_gathered = false;
  std::int64_t cp = 1;
  std::int64_t ulysses = 1;  // context-parallel ranks among which heads are exchanged for tokens
  std::int64_t ring = 1;     // ranks of the ring that passes blocks of keys
  bool gathered_blocks = false;  // PyTorch's ring: its blocks have been gathered
  bool gathered_keys = false;    // Transformer Engine's all_gather: attention by two chunks, with all keys in order
  bool zigzag = true;        // order of the sequence over context-parallel ranks
  std::int64_t piece = -1;   // of the sequence's cp consecutive pieces, the one of this rank's queries; -1: each rank
                             // has as many scores
  ExpertOptions experts;
  double expert_load = 1.0;      // tokens of this rank's experts relative to an equal share
  bool windowed = false;         // the layer's attention has a window
  bool recompute_ahead = false;  // of the gradient's arrival; the last model chunk then recomputes nothing
  LinearTiling tiling;           // of sharded parameters

  // Single operators are recomputed in sections of their own, since ranks communicate in between.
  [[nodiscard]] bool recomputes_apart() const;
  // Of exchanged heads and a ring together, the result is exchanged again for the backward pass (Transformer Engine,
  // context_parallel.py: AttnFuncWithCPAndKVP2P.backward).
  [[nodiscard]] bool exchanges_result_again() const { return ulysses > 1 && ring > 1; }
  // Sections of a microbatch on one rank.
  [[nodiscard]] std::int64_t tokens() const { return training.micro_batch * shape.sequence / cp; }

  friend bool operator==(const KernelContext&, const KernelContext&) = default;
};

[[nodiscard]] KernelContext make_kernel_context(const ModelShape& shape, const TrainingOptions& training,
                                                const ParallelOptions& parallel);

enum class LayerSection {
  kEmbeddingGather,  // looks the tokens up in this rank's part of the vocabulary
  kEmbeddingFinish,  // position embedding, dropout
  kAttentionNorm,
  kAttention,  // qkv GEMM .. output projection
  kQkv,        // its sections, with communication in between: qkv GEMM, norms, rotation
  kCore,
  kCoreBlock,      // with one rank's keys of the ring and even work; a causal mask leaves half
  kCoreFullBlock,  // the same without a mask
  kProjection,
  kAttentionResidual,  // bias, dropout, residual addition
  kMambaNorm,
  kMamba,  // GEMM, convolution, scan, gated norm, GEMM
  kMambaIn,  // its sections, with exchanges of heads in between: GEMM; convolution, scan; norm, GEMM
  kMambaScan,
  kMambaOut,
  kMambaResidual,
  kDeltaNetNorm,
  kDeltaNet,  // GEMM, convolution, norms, delta rule, gated norm, GEMM
  kDeltaNetIn,  // its sections, with exchanges of heads in between: GEMM; all up to the gated norm; GEMM
  kDeltaNetRule,
  kDeltaNetOut,
  kDeltaNetResidual,
  kMlpNorm,
  kMlp,  // up GEMM, activation, down GEMM
  kMlpResidual,
  kHalvesSum,  // parallel blocks: this rank's results of attention and MLP
  kRouter,      // scores, choice of experts
  kPermute,     // tokens sorted by destination
  kExpertSort,  // received tokens sorted by expert
  kExperts,     // the experts' MLPs
  kExpertUnsort,
  kUnpermute,  // weighted sum of the returned tokens
  kSharedExperts,
  kPredictorInput,  // multi-token prediction: norms, GEMM of 2h to h
  kFinalNorm,
  kLogits,
  kLossMax,  // cross-entropy over a split vocabulary: three reductions lie between its sections
  kLossTarget,
  kLossSum,
  kLossFinish,
  kLossBackward,
  kLogitsDgrad,
  kLogitsWgrad,
  kFinalNormBackward,
  kMlpResidualBackward,
  kMlpDownBackward,  // down GEMM's gradients, activation
  kMlpUpDgrad,
  kMlpUpWgrad,
  kUnpermuteBackward,
  kExpertsBackward,  // of the experts' MLPs, without weight gradients
  kExpertsWgrad,
  kSharedExpertsBackward,
  kPermuteBackward,
  kRouterBackward,
  kPredictorDgrad,
  kPredictorWgrad,
  kPredictorNormBackward,
  kMambaResidualBackward,
  kMambaBackward,  // without the first GEMM's gradients
  kMambaOutBackward,
  kMambaScanBackward,
  kMambaInBackward,
  kMambaDgrad,
  kMambaWgrad,
  kMambaNormBackward,
  kDeltaNetResidualBackward,
  kDeltaNetBackward,  // without the first GEMM's gradients
  kDeltaNetGateAgain,  // the gated norm, where it is recomputed
  kDeltaNetOutBackward,
  kDeltaNetRuleBackward,
  kDeltaNetInBackward,
  kDeltaNetDgrad,
  kDeltaNetWgrad,
  kDeltaNetNormBackward,
  kMlpNormBackward,    // with the addition of the residual's gradient
  kHalvesSumBackward,  // parallel blocks with one norm: gradients of its result
  kAttentionResidualBackward,
  kAttentionNormAgain,  // recomputation of single operators: the norm; GEMMs; the projection
  kQkvAgain,
  kProjectionAgain,
  kMlpNormAgain,
  kMlpAgain,            // GEMMs whose results were not saved, activation
  kHeadsToAttention,    // of a recomputed core: queries, keys and values as they are exchanged
  kHeadsFromAttention,  // its result
  kAttentionBackward,   // projection's gradients, attention core (recomputed first, if selective)
  kProjectionBackward,  // the sections of the attention's backward pass, with communication in between
  kCoreBackward,
  kCoreBlockBackward,
  kCoreFullBlockBackward,
  kQkvBackward,
  kQkvDgrad,
  kQkvWgrad,
  kAttentionNormBackward,
  kEmbeddingFinishBackward,
  kEmbeddingWgrad,
};

[[nodiscard]] std::vector<Kernel> kernels_of(LayerSection section, const KernelContext& context);

}  // namespace ringwright::workload
