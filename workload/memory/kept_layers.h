// The tensors that the layers of a chunk store of a microbatch between their passes, and the groups in which they are
// recomputed.
//
// Full recomputation as Megatron-LM (core/transformer/transformer_block.py) does it. Uniform: layers form groups of N,
// of each the first input is stored, and the group is recomputed before its backward pass. Block: the first N layers of
// the chunk are groups of one, the others store everything. A layer of multi-token prediction is recomputed alone under
// `uniform`, and not at all under `block`. If recomputation runs ahead of the gradient (Varuna), the last model chunk,
// whose gradient is available at once, stores everything.
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

  // For the layer that ends at this point of the chunk: bytes from its forward to its backward pass.
  [[nodiscard]] Bytes kept(std::size_t point) const { return layers_[layer_of_[point]].kept; }
  // The tensors needed before the backward pass of this point: of a group of layers its first input, before the last
  // one.
  [[nodiscard]] Bytes needed_before(std::size_t point) const;
  // The number of the layer, from 0, that stored it.
  [[nodiscard]] int keeper(std::size_t point) const;
  // The tensors that its own recomputation restores.
  [[nodiscard]] Bytes again(std::size_t point) const { return layers_[layer_of_[point]].again; }
  // The tensors present while its gradients are computed: of this layer, and of those before it in its group.
  [[nodiscard]] Bytes alive_again(std::size_t point) const { return layers_[layer_of_[point]].alive_again; }
  // The points, both included, that are recomputed before the backward pass of this one, the last of a group.
  struct Span {
    std::size_t first = 0;
    std::size_t last = 0;
    friend bool operator==(const Span&, const Span&) = default;
  };
  [[nodiscard]] std::optional<Span> computed_again_before(std::size_t point) const;

 private:
  struct Layer {
    std::size_t first_point = 0;
    std::size_t group_begin = 0;  // layers of its group, the group's size is 0 without recomputation
    std::size_t group_size = 0;
    Bytes kept;
    Bytes again;
    Bytes alive_again;
  };
  void find_layers(const ModelChunk& part);
  void form_groups(const ModelChunk& part, const FullRecompute& full);
  void weigh(const ModelChunk& part, const KernelContext& context);

  std::vector<Layer> layers_;
  std::vector<std::size_t> layer_of_;  // by point; for points outside layers: the previous layer
};

}  // namespace ringwright::workload
