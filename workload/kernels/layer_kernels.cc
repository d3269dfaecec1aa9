#include "workload/kernels/layer_kernels.h"

#include <algorithm>
#include <array>

#include "workload/kernels/attention_kernels.h"
#include "workload/kernels/delta_net_kernels.h"
#include "workload/kernels/edge_kernels.h"
#include "workload/kernels/expert_kernels.h"
#include "workload/kernels/fusions.h"
#include "workload/kernels/mamba_kernels.h"
#include "workload/kernels/pointwise_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

void add_mlp_norm(KernelMaker& make, const std::string& name) {
  add_norm(make, name, make.local_tokens * make.shape.hidden);
}

// Norms that are modules of their own add it themselves with fused_residual_rmsnorm (Megatron-Core,
// TEFusedResidualRMSNorm); others are part of the linear layer that follows.
enum class NormModule { kSeparate, kOfLinear };

// Then the gradient of the residual branch is added.
void add_block_norm_backward(KernelMaker& make, const std::string& name, NormModule module) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  if (module == NormModule::kSeparate && fuses_residual_gradient(make)) {
    return make.stream(kNorm, name + " and residual backward", elements, {.values = 4});
  }
  add_norm_backward(make, name, elements);
  add_residual_gradient(make, elements);
}

// A half's result is added to the residual stream. The gradient of a bias is a sum of the norm's gradient.
void add_output(KernelMaker& make, const std::string& norm) {
  if (make.shape.sandwich_norm) add_norm(make, norm, make.local_tokens * make.shape.hidden);
  add_residual(make);
}
void add_output_backward(KernelMaker& make, const std::string& norm, bool biased) {
  if (make.shape.sandwich_norm) add_norm_backward(make, norm, make.local_tokens * make.shape.hidden);
  add_residual_backward(make, biased ? OutputBias::kAdded : OutputBias::kNone);
}

void add_mlp(KernelMaker& make) {
  const LowRankAdapters adapters = make.shape.adapters.value_or(LowRankAdapters{});
  make.linears("mlp up", make.shape.hidden, {make.ffn, make.gated_ffn - make.ffn}, adapters.mlp_up);
  if (adapters.mlp_up) make.adapter(make.shape.hidden, make.gated_ffn);
  if (fuses_gelu(make)) {
    add_fused_gelu(make);
  } else {
    add_activation(make, "", make.tokens * make.ffn);
  }
  make.linear("mlp down", make.ffn, make.shape.hidden, activation_cast(make));
  if (adapters.mlp_down) make.adapter(make.ffn, make.shape.hidden);
}

// Two values of the whole activation are read, one is written.
void add_halves_sum(KernelMaker& make, const char* name) {
  make.stream(kElementwise, name, make.tokens * make.shape.hidden, {.values = 3});
}

// A norm that both halves share is computed again with the attention.
void add_mlp_norm_again(KernelMaker& make) {
  if (make.shape.order != BlockOrder::kParallelOneNorm) add_mlp_norm(make, "mlp norm again");
}

// One of a gated MLP's two up GEMMs, or both if their results were not saved, and the activation. Nothing reads the
// down GEMM's result.
void add_mlp_again(KernelMaker& make, const TrainingOptions& training) {
  if (training.recompute == Recompute::kOperators && make.shape.activation == Activation::kSwiGlu) {
    make.linears("mlp gate again", make.shape.hidden, {make.ffn});
  }
  if (training.recompute == Recompute::kExceptSaved && !training.saved.mlp_up) {
    make.linears("mlp up again", make.shape.hidden, {make.ffn, make.gated_ffn - make.ffn});
  }
  add_activation(make, " again", make.tokens * make.ffn);
}

void add_mlp_down_backward(KernelMaker& make, const KernelContext& context) {
  if (context.training.recomputes_operators() && !context.recomputes_apart()) {
    add_mlp_norm_again(make);
    add_mlp_again(make, context.training);
  }
  make.gathered_dgrad("mlp down dgrad", make.ffn, make.shape.hidden);
  make.wgrad("mlp down wgrad", make.ffn, make.shape.hidden);
  if (make.shape.adapters && make.shape.adapters->mlp_down) make.adapter_backward(make.ffn, make.shape.hidden);
  if (fuses_gelu(make)) {
    add_fused_gelu_backward(make);
  } else {
    add_activation_backward(make, make.tokens * make.ffn);
  }
  if (make.shape.biases.mlp && !fuses_gelu(make) && !make.fused().bias_gradient) {
    make.stream(kElementwise, "mlp up bias gradient", make.tokens * make.gated_ffn, {.values = 1});
  }
}

bool is_of_attention(LayerSection section) {
  constexpr std::array kSections{LayerSection::kAttention,
                               LayerSection::kQkv,
                               LayerSection::kCore,
                               LayerSection::kCoreBlock,
                               LayerSection::kCoreFullBlock,
                               LayerSection::kProjection,
                               LayerSection::kAttentionNormAgain,
                               LayerSection::kQkvAgain,
                               LayerSection::kProjectionAgain,
                               LayerSection::kHeadsToAttention,
                               LayerSection::kHeadsFromAttention,
                               LayerSection::kAttentionBackward,
                               LayerSection::kProjectionBackward,
                               LayerSection::kCoreBackward,
                               LayerSection::kCoreBlockBackward,
                               LayerSection::kCoreFullBlockBackward,
                               LayerSection::kQkvBackward,
                               LayerSection::kQkvDgrad,
                               LayerSection::kQkvWgrad};
  return std::ranges::find(kSections, section) != kSections.end();
}

bool is_of_experts(LayerSection section) {
  constexpr std::array kSections{LayerSection::kRouter,
                               LayerSection::kPermute,
                               LayerSection::kExpertSort,
                               LayerSection::kExperts,
                               LayerSection::kExpertUnsort,
                               LayerSection::kUnpermute,
                               LayerSection::kSharedExperts,
                               LayerSection::kUnpermuteBackward,
                               LayerSection::kExpertsBackward,
                               LayerSection::kExpertsWgrad,
                               LayerSection::kSharedExpertsBackward,
                               LayerSection::kPermuteBackward,
                               LayerSection::kRouterBackward};
  return std::ranges::find(kSections, section) != kSections.end();
}

bool is_of_embedding(LayerSection section) {
  constexpr std::array kSections{LayerSection::kEmbeddingGather, LayerSection::kEmbeddingFinish,
                                 LayerSection::kEmbeddingFinishBackward, LayerSection::kEmbeddingWgrad};
  return std::ranges::find(kSections, section) != kSections.end();
}

bool is_of_predictor(LayerSection section) {
  constexpr std::array kSections{LayerSection::kPredictorInput, LayerSection::kPredictorDgrad,
                                 LayerSection::kPredictorWgrad, LayerSection::kPredictorNormBackward};
  return std::ranges::find(kSections, section) != kSections.end();
}

// Sections that a layer does not have, by how its halves follow each other.
bool is_left_out(LayerSection section, BlockOrder order) {
  using enum LayerSection;
  const bool parallel = order != BlockOrder::kSequential;
  const bool one_norm = order == BlockOrder::kParallelOneNorm;
  if (section == kAttentionResidual || section == kAttentionResidualBackward) return parallel;
  if (section == kMlpNorm || section == kMlpNormBackward) return one_norm;
  if (section == kHalvesSum) return !parallel;
  return section == kHalvesSumBackward && !one_norm;
}

void add_section(LayerSection section, const KernelContext& context, KernelMaker& make) {
  if (is_left_out(section, make.shape.order)) return;
  if (is_of_attention(section)) return add_attention_sections(section, context, make);
  if (is_of_mamba(section)) return add_mamba_sections(section, context, make);
  if (is_of_delta_net(section)) return add_delta_net_sections(section, context, make);
  if (is_of_experts(section)) return add_expert_sections(section, context, make);
  if (is_of_embedding(section)) return add_embedding_sections(section, context, make);
  const std::int64_t h = make.shape.hidden;
  if (section == LayerSection::kAttentionNorm) {
    add_attention_norm(make);
    return add_latent_down(make);
  }
  if (section == LayerSection::kAttentionNormBackward) {
    add_latent_down_backward(make);
    return add_block_norm_backward(make, "attention norm",
                                   make.shape.latent ? NormModule::kSeparate : NormModule::kOfLinear);
  }
  if (section == LayerSection::kMlpNorm) return add_mlp_norm(make, "mlp norm");
  if (section == LayerSection::kMlp) return add_mlp(make);
  if (section == LayerSection::kHalvesSum) return add_halves_sum(make, "attention and mlp sum");
  if (section == LayerSection::kHalvesSumBackward) return add_halves_sum(make, "attention and mlp gradient sum");
  if (section == LayerSection::kAttentionResidual) return add_output(make, "attention output norm");
  if (section == LayerSection::kMlpResidual) return add_output(make, "mlp output norm");
  if (section == LayerSection::kAttentionResidualBackward) {
    return add_output_backward(make, "attention output norm", make.shape.biases.projection);
  }
  if (section == LayerSection::kMlpResidualBackward) {
    return add_output_backward(make, "mlp output norm", make.shape.biases.mlp);
  }
  if (section == LayerSection::kMlpNormAgain) return add_mlp_norm_again(make);
  if (section == LayerSection::kMlpAgain) return add_mlp_again(make, context.training);
  if (section == LayerSection::kMlpDownBackward) return add_mlp_down_backward(make, context);
  if (section == LayerSection::kMlpUpDgrad) {
    const bool has_norm = make.shape.order != BlockOrder::kParallelOneNorm;
    if (has_norm && context.training.recomputes(&RecomputedModules::norms)) add_mlp_norm(make, "mlp norm");
    make.dgrads("mlp up dgrad", h, {make.ffn, make.gated_ffn - make.ffn}, activation_gradient_cast(make));
    if (make.shape.adapters && make.shape.adapters->mlp_up) make.adapter_backward(h, make.gated_ffn);
    return;
  }
  if (section == LayerSection::kMlpUpWgrad)
    return make.wgrads("mlp up wgrad", h, {make.ffn, make.gated_ffn - make.ffn});
  if (section == LayerSection::kMlpNormBackward) {
    return add_block_norm_backward(make, "mlp norm",
                                   make.shape.experts ? NormModule::kSeparate : NormModule::kOfLinear);
  }
  if (is_of_predictor(section)) return add_predictor_sections(section, make);
  add_head_sections(section, context, make);
}

}  // namespace

// Without sequence parallelism the projection's sum is recomputed as well; reduce-scatters are saved (torchtitan's
// activation_checkpoint.py), and what is gathered again for the gradients of weights serves both.
bool KernelContext::recomputes_apart() const {
  const bool split = tp > 1 || cp > 1;
  if (training.recompute == Recompute::kExceptSaved) return split;
  return training.recompute == Recompute::kOperators && split && (cp > 1 || !sequence_parallel);
}

KernelContext make_kernel_context(const ModelShape& shape, const TrainingOptions& training,
                                  const ParallelOptions& parallel) {
  KernelContext context{
      .shape = shape, .training = training, .tp = parallel.tp, .sequence_parallel = parallel.sequence_parallel};
  context.cp = parallel.cp;
  context.ulysses = parallel.ulysses;
  context.ring = parallel.context_exchange == ContextExchange::kAllGather ? 1 : parallel.ring();
  context.gathered_blocks = parallel.context_exchange == ContextExchange::kGatheredBlocks;
  context.zigzag = parallel.context_balanced;
  context.gathered_keys = parallel.cp > 1 && parallel.context_exchange == ContextExchange::kAllGather &&
                          parallel.context_balanced && !shape.indexer;
  context.async_reduce = parallel.async_reduce;
  context.keep_gathered = parallel.keep_gathered;
  context.experts = parallel.experts;
  context.expert_load = parallel.experts.hottest();
  context.recompute_ahead = parallel.recompute_ahead;
  context.tiling = parallel.sharding.tiling;
  return context;
}

std::vector<Kernel> kernels_of(LayerSection section, const KernelContext& context) {
  KernelMaker make(context);
  add_section(section, context, make);
  return make.take();
}

}  // namespace ringwright::workload
