#include "workload/memory/kept_layers.h"

#include <algorithm>

#include "workload/memory/activations.h"

namespace ringwright::workload {

KeptLayers::KeptLayers(const ModelChunk& part, const KernelContext& context) {
  find_layers(part);
  const bool spared = context.recompute_ahead && part.head;
  if (context.training.recompute == Recompute::kFull && !spared) form_groups(part, context.training.full);
  weigh(part, context);
}

void KeptLayers::find_layers(const ModelChunk& part) {
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    if (ends_layer(part.points[point])) layers_.push_back({.first_point = point - 1});
    layer_of_.push_back(layers_.empty() ? 0 : layers_.size() - 1);
  }
}

void KeptLayers::form_groups(const ModelChunk& part, const FullRecompute& full) {
  const bool uniform = full.method == RecomputeMethod::kUniform;
  const auto count = static_cast<std::size_t>(full.layers);
  const auto predicts = [&](const Layer& layer) {
    return layer.first_point > 0 && part.points[layer.first_point - 1] == PointKind::kPredictor;
  };
  // Multi-token prediction layers are last.
  const auto plain = static_cast<std::size_t>(std::ranges::count_if(layers_, [&](auto& x) { return !predicts(x); }));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    layer.group_begin = i;
    if (!uniform) {
      layer.group_size = i < std::min(count, plain) ? 1 : 0;
    } else if (i >= plain) {
      layer.group_size = 1;
    } else {
      layer.group_begin = i / count * count;
      layer.group_size = std::min(count, plain - layer.group_begin);
    }
  }
}

void KeptLayers::weigh(const ModelChunk& part, const KernelContext& context) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const LayerHalves halves = halves_at(part.points[layer.first_point], part.points[layer.first_point + 1]);
    const bool full = context.training.recompute == Recompute::kFull;
    if (full && layer.group_size == 0) {
      layer.kept = recomputed_layer(context, halves);  // nothing is recomputed: everything is stored
      continue;
    }
    layer.again = layer.alive_again = recomputed_layer(context, halves);
    if (!full || layer.group_begin == i) layer.kept = layer_activations(context, halves);
    if (full && layer.group_begin < i) layer.alive_again += layers_[i - 1].alive_again;
  }
}

int KeptLayers::keeper(std::size_t point) const {
  if (layers_.empty()) return 0;
  const Layer& layer = layers_[layer_of_[point]];
  return static_cast<int>(layer.group_size > 0 ? layer.group_begin : layer_of_[point]);
}

Bytes KeptLayers::needed_before(std::size_t point) const {
  if (layers_.empty() || point != layers_[layer_of_[point]].first_point + 1) return Bytes(0);
  const Layer& layer = layers_[layer_of_[point]];
  if (layer.group_size > 0 && !computed_again_before(point)) return Bytes(0);
  return layers_[static_cast<std::size_t>(keeper(point))].kept;
}

std::optional<KeptLayers::Span> KeptLayers::computed_again_before(std::size_t point) const {
  if (layers_.empty()) return std::nullopt;
  const std::size_t number = layer_of_[point];
  const Layer& layer = layers_[number];
  const bool last = layer.group_size > 0 && number == layer.group_begin + layer.group_size - 1;
  if (!last || point != layer.first_point + 1) return std::nullopt;
  return Span{.first = layers_[layer.group_begin].first_point, .last = point};
}

}  // namespace ringwright::workload
