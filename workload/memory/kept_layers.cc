#include "workload/memory/kept_layers.h"

#include <array>
#include <optional>

#include "workload/memory/activations.h"

namespace ringwright::workload {

KeptLayers::KeptLayers(const ModelChunk& part, const KernelContext& context)
    : groups_(part, context.training, context.recompute_ahead), layers_(groups_.layers().size()) {
  weigh(part, context);
}

void KeptLayers::weigh(const ModelChunk& part, const KernelContext& context) {
  struct Sizes {
    Bytes stored;
    Bytes recomputed;
  };
  constexpr std::size_t kMlpKinds = 3;
  constexpr std::size_t kMixers = 4;
  std::array<std::optional<Sizes>, kMixers * kMlpKinds> of_kind;  // by halves of a layer
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const LayerGroups::Layer& grouped = groups_.layers()[i];
    const LayerHalves halves = halves_at(part.points[grouped.first_point], part.points[grouped.first_point + 1]);
    std::optional<Sizes>& known =
        of_kind[kMlpKinds * static_cast<std::size_t>(halves.mixer) + static_cast<std::size_t>(halves.mlp)];
    if (!known) {
      known = Sizes{.stored = layer_activations(context, halves), .recomputed = recomputed_layer(context, halves)};
    }
    const bool full = context.training.recompute == Recompute::kFull;
    if (full && grouped.group_size == 0) {
      layer.kept = known->recomputed;  // nothing is recomputed: everything is stored
      continue;
    }
    layer.again = layer.alive_again = known->recomputed;
    const bool predicts =
        grouped.first_point > 0 && part.points[grouped.first_point - 1] == PointKind::kPredictor;
    if (predicts) layer.again = layer.alive_again += recomputed_predictor(context);
    if (!full || grouped.group_begin == i) layer.kept = known->stored;
    if (full && grouped.group_begin < i) layer.alive_again += layers_[i - 1].alive_again;
  }
}

int KeptLayers::keeper(std::size_t point) const {
  if (layers_.empty()) return 0;
  const std::size_t number = groups_.layer_of(point);
  const LayerGroups::Layer& layer = groups_.layers()[number];
  return static_cast<int>(layer.group_size > 0 ? layer.group_begin : number);
}

Bytes KeptLayers::needed_before(std::size_t point) const {
  if (layers_.empty()) return Bytes(0);
  const LayerGroups::Layer& layer = groups_.layers()[groups_.layer_of(point)];
  if (point != layer.first_point + 1) return Bytes(0);
  if (layer.group_size > 0 && !computed_again_before(point)) return Bytes(0);
  return layers_[static_cast<std::size_t>(keeper(point))].kept;
}

}  // namespace ringwright::workload
