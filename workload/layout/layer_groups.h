// The layers of a chunk, and the groups in which full recomputation repeats their forward pass.
//
// Megatron-LM (core/transformer/transformer_block.py). Uniform: layers form groups of N, of each the first input is
// stored, and the group is recomputed before its backward pass. Block: the first N layers of the chunk are groups of
// one, the others store everything. A layer of multi-token prediction is recomputed alone under `uniform`, and not at
// all under `block`. If recomputation runs ahead of the gradient (Varuna), the last model chunk, whose gradient is
// available at once, stores everything.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "workload/layout/stage_chunks.h"

namespace ringwright::workload {

class LayerGroups {
 public:
  // `ahead`: recomputation does not wait for the gradient.
  LayerGroups(const ModelChunk& part, const TrainingOptions& training, bool ahead);

  struct Layer {
    std::size_t first_point = 0;
    std::size_t group_begin = 0;  // layers of its group, the group's size is 0 without recomputation
    std::size_t group_size = 0;
  };
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  // The layer of this point; of points outside layers the previous one.
  [[nodiscard]] std::size_t layer_of(std::size_t point) const { return layer_of_[point]; }
  // The points, both included, that are recomputed before the backward pass of this one, the last of a group.
  struct Span {
    std::size_t first = 0;
    std::size_t last = 0;
    friend bool operator==(const Span&, const Span&) = default;
  };
  [[nodiscard]] std::optional<Span> computed_again_before(std::size_t point) const;

 private:
  void form_groups(const ModelChunk& part, const FullRecompute& full);

  std::vector<Layer> layers_;
  std::vector<std::size_t> layer_of_;  // by point
};

}  // namespace ringwright::workload
