// The tensors that the layers of a chunk store of a microbatch between their passes, by the groups in which they are
// recomputed (layout/layer_groups.h).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/layout/layer_groups.h"

namespace ringwright::workload {

class KeptLayers {
 public:
  KeptLayers(const ModelChunk& part, const KernelContext& context);

  // For the layer that ends at this point of the chunk: bytes from its forward to its backward pass.
  [[nodiscard]] Bytes kept(std::size_t point) const { return layers_[groups_.layer_of(point)].kept; }
  // The tensors needed before the backward pass of this point: of a group of layers its first input, before the last
  // one.
  [[nodiscard]] Bytes needed_before(std::size_t point) const;
  // The number of the layer, from 0, that stored it.
  [[nodiscard]] int keeper(std::size_t point) const;
  // The tensors that its own recomputation restores.
  [[nodiscard]] Bytes again(std::size_t point) const { return layers_[groups_.layer_of(point)].again; }
  // The tensors present while its gradients are computed: of this layer, and of those before it in its group.
  [[nodiscard]] Bytes alive_again(std::size_t point) const { return layers_[groups_.layer_of(point)].alive_again; }
  using Span = LayerGroups::Span;
  [[nodiscard]] std::optional<Span> computed_again_before(std::size_t point) const {
    return groups_.computed_again_before(point);
  }

 private:
  struct Layer {
    Bytes kept;
    Bytes again;
    Bytes alive_again;
  };
  void weigh(const ModelChunk& part, const KernelContext& context);

  LayerGroups groups_;
  std::vector<Layer> layers_;
};

}  // namespace ringwright::workload
