#include "workload/layout/stage_balance.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ringwright::workload {
namespace {

// In a scope of their own: other files of the library have constants with the names of sections.
struct Sections {
  using enum LayerSection;

  static constexpr LayerSection kWholeAttention[] = {kAttentionNorm, kAttention, kAttentionResidual};
  static constexpr LayerSection kCutAttention[] = {kAttentionNorm, kQkv, kCore, kProjection, kAttentionResidual};
  static constexpr LayerSection kWholeAttentionBackward[] = {
      kAttentionResidualBackward, kAttentionBackward, kQkvDgrad, kHalvesSumBackward, kQkvWgrad, kAttentionNormBackward};
  static constexpr LayerSection kCutAttentionBackward[] = {
      kAttentionResidualBackward, kProjectionBackward, kCoreBackward,         kQkvBackward, kQkvDgrad,
      kHalvesSumBackward,         kQkvWgrad,           kAttentionNormBackward};
  static constexpr LayerSection kAttentionAgain[] = {kAttentionNormAgain, kQkvAgain, kProjectionAgain};
  static constexpr LayerSection kMlpAgainWithNorm[] = {kMlpNormAgain, kMlpAgain};
  static constexpr LayerSection kCoreAgain[] = {kHeadsToAttention, kCore, kHeadsFromAttention};
  static constexpr LayerSection kDense[] = {kMlpNorm, kMlp, kHalvesSum, kMlpResidual};
  static constexpr LayerSection kDenseBackward[] = {kMlpResidualBackward, kMlpDownBackward, kMlpUpDgrad, kMlpUpWgrad,
                                                    kMlpNormBackward};
  static constexpr LayerSection kSparse[] = {kMlpNorm, kRouter,       kPermute,   kExpertSort,
                                             kExperts, kExpertUnsort, kUnpermute, kMlpResidual};
  static constexpr LayerSection kSparseBackward[] = {kMlpResidualBackward, kUnpermuteBackward, kExpertSort,
                                                     kExpertsBackward,     kExpertsWgrad,      kExpertUnsort,
                                                     kPermuteBackward,     kRouterBackward,    kMlpNormBackward};
  static constexpr LayerSection kDenseAgain[] = {kMlpNorm, kMlp};
  static constexpr LayerSection kSparseAgain[] = {kRouter, kPermute, kExpertSort, kExperts, kExpertUnsort, kUnpermute};
  static constexpr LayerSection kStateSpace[] = {kMambaNorm, kMamba, kMambaResidual};
  static constexpr LayerSection kStateSpaceBackward[] = {kMambaResidualBackward, kMambaBackward, kMambaDgrad,
                                                         kMambaWgrad, kMambaNormBackward};
  static constexpr LayerSection kLinearAttention[] = {kDeltaNetNorm, kDeltaNet, kDeltaNetResidual};
  static constexpr LayerSection kLinearAttentionBackward[] = {kDeltaNetResidualBackward, kDeltaNetBackward,
                                                              kDeltaNetDgrad, kDeltaNetWgrad, kDeltaNetNormBackward};
  static constexpr LayerSection kEmbedding[] = {kEmbeddingGather, kEmbeddingFinish, kEmbeddingFinishBackward,
                                                kEmbeddingWgrad};
  static constexpr LayerSection kPredictor[] = {kPredictorInput, kPredictorDgrad, kPredictorWgrad,
                                                kPredictorNormBackward};
  static constexpr LayerSection kHead[] = {kFinalNorm,  kLogits,       kLossMax,     kLossTarget,  kLossSum,
                                           kLossFinish, kLossBackward, kLogitsDgrad, kLogitsWgrad, kFinalNormBackward};
};

class Coster {
 public:
  // A layer's forward pass is recomputed `again` times.
  Coster(const KernelContext& context, const ComputeModel& compute, double again)
      : context_(context), compute_(compute), again_(again) {}

  [[nodiscard]] double of(std::span<const LayerSection> sections, bool windowed = false) const {
    KernelContext context = context_;
    context.windowed = windowed;
    double seconds = 0.0;
    for (const LayerSection section : sections) {
      for (const Kernel& kernel : kernels_of(section, context)) {
        seconds += to_seconds(compute_.duration(kernel)) * static_cast<double>(kernel.launches);
      }
    }
    return seconds;
  }
  // Models have few kinds of layers.
  [[nodiscard]] double of_layer(std::int64_t layer) {
    const LayerHalves halves = halves_of(context_.shape, layer);
    const auto [known, is_new] =
        known_.try_emplace({halves.mixer, halves.mlp, is_windowed(context_.shape, layer)}, 0.0);
    if (is_new) known->second = of_halves(layer, halves);
    return known->second;
  }

 private:
  [[nodiscard]] double of_halves(std::int64_t layer, const LayerHalves& halves) const {
    double forward = 0.0;
    double backward = 0.0;
    add_mixer(halves.mixer, is_windowed(context_.shape, layer), forward, backward);
    const TrainingOptions& training = context_.training;
    if (halves.mlp == MlpKind::kExperts) {
      forward += of(Sections::kSparse);
      backward += of(Sections::kSparseBackward);
      if (training.recomputes(&RecomputedModules::experts)) backward += of(Sections::kSparseAgain);
      if (context_.shape.experts->shared_ffn > 0) {
        forward += of(std::array{LayerSection::kSharedExperts});
        for (const auto module : {&RecomputedModules::shared_experts, &RecomputedModules::experts}) {
          if (training.recomputes(module)) backward += of(std::array{LayerSection::kSharedExperts});
        }
        backward += of(std::array{LayerSection::kSharedExpertsBackward});
      }
    } else if (halves.mlp == MlpKind::kDense) {
      forward += of(Sections::kDense);
      backward += of(Sections::kDenseBackward);
      if (context_.recomputes_apart()) backward += of(Sections::kMlpAgainWithNorm);
      if (training.recomputes(&RecomputedModules::mlp)) backward += of(Sections::kDenseAgain);
    }
    return (1.0 + again_) * forward + backward;
  }
  void add_mixer(Mixer mixer, bool windowed, double& forward, double& backward) const {
    const bool cut = context_.cp > 1;
    if (mixer == Mixer::kMamba) {
      forward += of(Sections::kStateSpace);
      backward += of(Sections::kStateSpaceBackward);
    }
    if (mixer == Mixer::kDeltaNet) {
      forward += of(Sections::kLinearAttention);
      backward += of(Sections::kLinearAttentionBackward);
    }
    if (mixer != Mixer::kAttention) return;
    forward += of(cut ? std::span<const LayerSection>(Sections::kCutAttention) : Sections::kWholeAttention, windowed);
    backward +=
        of(cut ? std::span<const LayerSection>(Sections::kCutAttentionBackward) : Sections::kWholeAttentionBackward,
           windowed);
    const TrainingOptions& training = context_.training;
    const bool apart = context_.recomputes_apart();
    if (apart) backward += of(Sections::kAttentionAgain);
    const bool core = (apart && training.recompute == Recompute::kExceptSaved && !training.saved.core) ||
                      (cut && training.recomputes(&RecomputedModules::core_attention));
    if (core) backward += of(Sections::kCoreAgain, windowed);
  }

  const KernelContext& context_;
  const ComputeModel& compute_;
  double again_;
  std::map<std::tuple<Mixer, MlpKind, bool>, double> known_;  // by halves of a layer, and whether it is windowed
};

// With `block` only the first layers of a chunk are recomputed; which ones is unknown before the split.
double computed_again(const ModelShape& shape, const TrainingOptions& training, const ParallelOptions& parallel) {
  if (training.recompute != Recompute::kFull) return 0.0;
  if (training.full.method == RecomputeMethod::kUniform) return 1.0;
  return std::min(1.0,
                  static_cast<double>(training.full.layers) * parallel.parts() / static_cast<double>(shape.layers));
}

}  // namespace

namespace {

LayerCosts costs_in(const KernelContext& context, const ComputeModel& compute, double again) {
  const ModelShape& shape = context.shape;
  Coster coster(context, compute, again);
  LayerCosts costs{.layers = {}, .first = coster.of(Sections::kEmbedding), .last = coster.of(Sections::kHead)};
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) costs.layers.push_back(coster.of_layer(layer));
  for (std::int64_t number = 0; number < shape.predictors; ++number) {
    costs.last += coster.of(Sections::kEmbedding) + coster.of(Sections::kPredictor) +
                  coster.of_layer(shape.layers + number) + coster.of(Sections::kHead);
  }
  return costs;
}

}  // namespace

namespace {

KnownLayouts::LayerKey layer_key(const ModelShape& shape, const TrainingOptions& training,
                                 const ParallelOptions& parallel) {
  return {.context = make_kernel_context(shape, training, parallel),
          .again = computed_again(shape, training, parallel)};
}

LayerBalance& known_balance(const KnownLayouts::LayerKey& key, const ComputeModel& compute, KnownLayouts& known) {
  const auto [balance, is_new] = known.balance_of_layers.find(number_of(key.context), key);
  if (is_new) {
    const LayerCosts costs = costs_in(key.context, compute, key.again);
    balance = &known.balanced.try_emplace({costs.layers, costs.first, costs.last}, costs).first->second;
  }
  return *balance;
}

}  // namespace

LayerCosts layer_costs(const ModelShape& shape, const TrainingOptions& training, const ParallelOptions& parallel,
                       const ComputeModel& compute) {
  const KnownLayouts::LayerKey key = layer_key(shape, training, parallel);
  return costs_in(key.context, compute, key.again);
}

LayerPasses dense_layer_passes(const KernelContext& context, const ComputeModel& compute) {
  const auto add = [&](std::span<const LayerSection> sections, PassTime& pass) {
    for (const LayerSection section : sections) {
      for (const Kernel& kernel : kernels_of(section, context)) {
        const auto launches = static_cast<double>(kernel.launches);
        pass.device += to_seconds(compute.duration(kernel)) * launches;
        pass.host += to_seconds(compute.issue_time(kernel)) * launches;
      }
    }
  };
  LayerPasses passes;
  add(Sections::kWholeAttention, passes.forward);
  add(Sections::kDense, passes.forward);
  add(Sections::kDenseBackward, passes.backward);
  add(Sections::kWholeAttentionBackward, passes.backward);
  return passes;
}

void balance_stages(ConfigMap& parallel, const ModelShape& shape, const TrainingOptions& training,
                    const ComputeModel& compute, ParallelOptions& options, KnownLayouts* known) {
  if (options.stage_layers != StageLayers::kBalanced) return;
  const KnownLayouts::LayerKey key = layer_key(shape, training, options);
  options.layers_per_part = known != nullptr
                                ? known_balance(key, compute, *known).over(options.parts())
                                : balance_layers(costs_in(key.context, compute, key.again), options.parts());
  if (!parallel.records_reads()) return;
  parallel.assume("layers_per_part", fmt::format("{}", fmt::join(options.layers_per_part, " ")),
                  "stage_layers: balanced, by the modelled time of layers, embedding and logits");
}

}  // namespace ringwright::workload
