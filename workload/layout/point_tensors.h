// The parameters at the points of a model chunk. Points with the same ones, such as those of equal layers, share a
// list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Experts have other copies than the dense parameters.
enum class Holding { kDense, kExpert };

class PointTensors {
 public:
  using List = std::vector<ParameterTensor>;

  // What a list holds that is trained, on ranks of one holding.
  struct Trained {
    std::int64_t tensors = 0;
    std::int64_t elements = 0;
    std::int64_t matrices = 0;  // of these elements, those of the layers' matrices
  };

  PointTensors() = default;
  PointTensors(std::initializer_list<List> by_point);

  void reserve(std::size_t points) { list_of_.reserve(points); }
  // A further point; the latter with the tensors of an earlier one.
  void push_back(List tensors);
  void repeat(std::size_t point) { list_of_.push_back(list_of_[point]); }
  // Of this point; others that share its list keep theirs.
  void clear(std::size_t point);

  [[nodiscard]] std::size_t size() const { return list_of_.size(); }
  [[nodiscard]] const List& operator[](std::size_t point) const { return content(point).tensors; }
  // Whether the tensor is a weight of the layers' GEMMs (is_layer_matrix).
  [[nodiscard]] bool is_matrix(std::size_t point, std::size_t tensor) const {
    return content(point).is_matrix[tensor] != 0;
  }
  [[nodiscard]] const Trained& trained(std::size_t point, Holding holding) const {
    return content(point).trained[static_cast<std::size_t>(holding)];
  }
  // Of all tensors.
  [[nodiscard]] std::int64_t elements(std::size_t point) const { return content(point).elements; }

 private:
  struct Content {
    List tensors;
    std::vector<char> is_matrix;     // by tensor
    std::array<Trained, 2> trained;  // by holding
    std::int64_t elements = 0;
  };
  [[nodiscard]] const Content& content(std::size_t point) const { return lists_[list_of_[point]]; }

  std::vector<Content> lists_;
  std::vector<std::uint32_t> list_of_;  // by point
};

}  // namespace ringwright::workload
