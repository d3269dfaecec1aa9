#include "workload/layout/point_tensors.h"

#include <utility>

namespace ringwright::workload {

PointTensors::PointTensors(std::initializer_list<List> by_point) {
  for (const List& tensors : by_point) push_back(tensors);
}

void PointTensors::push_back(List tensors) {
  list_of_.push_back(static_cast<std::uint32_t>(lists_.size()));
  Content& content = lists_.emplace_back();
  content.is_matrix.reserve(tensors.size());
  for (const ParameterTensor& tensor : tensors) {
    const bool matrix = is_layer_matrix(tensor.name);
    content.is_matrix.push_back(matrix ? 1 : 0);
    content.elements += tensor.elements;
    if (tensor.frozen) continue;
    Trained& trained = content.trained[static_cast<std::size_t>(tensor.expert ? Holding::kExpert : Holding::kDense)];
    ++trained.tensors;
    trained.elements += tensor.elements;
    if (matrix) trained.matrices += tensor.elements;
  }
  content.tensors = std::move(tensors);
}

void PointTensors::clear(std::size_t point) {
  list_of_[point] = static_cast<std::uint32_t>(lists_.size());
  lists_.emplace_back();
}

}  // namespace ringwright::workload
