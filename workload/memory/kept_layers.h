// What the layers of a part keep of a microbatch between their passes, and which of them are computed again together.
//
// Full recomputation as Megatron-LM (core/transformer/transformer_block.py) does it. Uniform: layers fall into groups
// of N, of each the first input is kept, and the group is computed again before its backward pass. Block: the first N
// layers of the part are groups of one, the others keep all they have. A layer of multi-token prediction is computed
// again alone under `uniform`, and not at all under `block`. Where recomputation goes ahead of the gradient (Varuna),
// the last part of the model, whose gradient is there at once, keeps all.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/layout/stage_chunks.h"

namespace ringwright::workload {

class KeptLayers {
 public:
  KeptLayers(const ModelChunk& part, const KernelContext& context);

  // Of the layer that ends at this point of the part: bytes from its forward to its backward pass.
  [[nodiscard]] Bytes kept(std::size_t point) const { return layers_[layer_of_[point]].kept; }
  // What must be there before the backward pass of this point: of a group of layers its first input, before the last
  // one.
  [[nodiscard]] Bytes needed_before(std::size_t point) const;
  // The number of the layer, from 0, that kept it.
  [[nodiscard]] int keeper(std::size_t point) const;
  // What its own recomputation brings back.
  [[nodiscard]] Bytes again(std::size_t point) const { return layers_[layer_of_[point]].again; }
  // What is there while its gradients are computed: of this layer, and of those before it in its group.
  [[nodiscard]] Bytes alive_again(std::size_t point) const { return layers_[layer_of_[point]].alive_again; }
  // The points, both included, that are computed again before the backward pass of this one, the last of a group.
  struct Span {
    std::size_t first = 0;
    std::size_t last = 0;
    friend bool operator==(const Span&, const Span&) = default;
  };
  [[nodiscard]] std::optional<Span> computed_again_before(std::size_t point) const;

 private:
  struct Layer {
    std::size_t first_point = 0;
    std::size_t group_begin = 0;  // layers of its group, the group's size is 0 where nothing is computed again
    std::size_t group_size = 0;
    Bytes kept;
    Bytes again;
    Bytes alive_again;
  };
  void find_layers(const ModelChunk& part);
  void form_groups(const ModelChunk& part, const FullRecompute& full);
  void weigh(const ModelChunk& part, const KernelContext& context);

  std::vector<Layer> layers_;
  std::vector<std::size_t> layer_of_;  // by point; of points outside of layers: of the layer before
};

}  // namespace ringwright::workload
