// Which kernels one tensor-parallel rank launches for one microbatch: forward and backward, cut into pieces at the
// points where ranks talk.
//
// Products have 2mnk FLOPs (Megatron's num_floating_point_operations); a backward pass has one product for the input's
// gradient (dgrad) and one for the weight's (wgrad), which is added to the main gradient in its epilogue. Fused
// attention: 2bs^2(ad) FLOPs forward (causal), 2.5 times that backward, since it computes the scores again
// (FlashAttention-2, arXiv 2307.08691). All other kernels count bytes only: their arithmetic is not what takes time.
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
  std::int64_t ring = 1;     // ranks among which blocks of keys go round
  double core_load = 1.0;    // scores of this rank against an equal share
  ExpertOptions experts;
  double expert_load = 1.0;      // tokens of this rank's experts against an equal share
  bool windowed = false;         // the layer's attention has a window
  bool recompute_ahead = false;  // of the gradient's arrival; the last part of the model then computes nothing again

  // Of a microbatch on one rank.
  [[nodiscard]] std::int64_t tokens() const { return training.micro_batch * shape.sequence / cp; }
};

[[nodiscard]] KernelContext make_kernel_context(const ModelShape& shape, const TrainingOptions& training,
                                                const ParallelOptions& parallel);

enum class LayerSection {
  kEmbeddingGather,  // looks the tokens up in this rank's part of the vocabulary
  kEmbeddingFinish,  // position embedding, dropout
  kAttentionNorm,
  kAttention,  // qkv product .. output projection
  kQkv,        // its parts, where ranks talk in between: qkv product, norms, rotation
  kCore,
  kCoreBlock,      // with one rank's keys of the ring, where the work is even; of a causal mask half is left
  kCoreFullBlock,  // the same without a mask
  kProjection,
  kAttentionResidual,  // bias, dropout, residual addition
  kMlpNorm,
  kMlp,  // up product, activation, down product
  kMlpResidual,
  kRouter,      // scores, choice of experts
  kPermute,     // tokens sorted by where they go
  kExpertSort,  // received tokens sorted by expert
  kExperts,     // the experts' MLPs
  kExpertUnsort,
  kUnpermute,  // weighted sum of what came back
  kSharedExperts,
  kPredictorInput,  // multi-token prediction: norms, product of 2h to h
  kFinalNorm,
  kLogits,
  kLossMax,  // cross-entropy over a split vocabulary: three reductions lie between its pieces
  kLossTarget,
  kLossSum,
  kLossFinish,
  kLossBackward,
  kLogitsDgrad,
  kLogitsWgrad,
  kFinalNormBackward,
  kMlpResidualBackward,
  kMlpDownBackward,  // down product's gradients, activation
  kMlpUpDgrad,
  kMlpUpWgrad,
  kUnpermuteBackward,
  kExpertsBackward,  // of the experts' MLPs, without weight gradients
  kExpertsWgrad,
  kSharedExpertsBackward,
  kPermuteBackward,
  kRouterBackward,
  kPredictorInputBackward,
  kMlpNormBackward,  // with the addition of the residual's gradient
  kAttentionResidualBackward,
  kAttentionBackward,   // projection's gradients, attention core (computed again first, if selective)
  kProjectionBackward,  // the parts of the attention's backward pass, where ranks talk in between
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
