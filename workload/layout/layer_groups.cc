#include "workload/layout/layer_groups.h"

#include <algorithm>

namespace ringwright::workload {

LayerGroups::LayerGroups(const ModelChunk& part, const TrainingOptions& training, bool ahead) {
  layers_.reserve(part.points.size() / 2);
  layer_of_.reserve(part.points.size());
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    if (ends_layer(part.points[point])) layers_.push_back({.first_point = point - 1});
    layer_of_.push_back(layers_.empty() ? 0 : layers_.size() - 1);
  }
  const bool spared = ahead && part.head;
  if (training.recompute == Recompute::kFull && !spared) form_groups(part, training.full);
}

void LayerGroups::form_groups(const ModelChunk& part, const FullRecompute& full) {
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

std::optional<LayerGroups::Span> LayerGroups::computed_again_before(std::size_t point) const {
  if (layers_.empty()) return std::nullopt;
  const std::size_t number = layer_of_[point];
  const Layer& layer = layers_[number];
  const bool last = layer.group_size > 0 && number == layer.group_begin + layer.group_size - 1;
  if (!last || point != layer.first_point + 1) return std::nullopt;
  return Span{.first = layers_[layer.group_begin].first_point, .last = point};
}

}  // namespace ringwright::workload
