// Activations of a stage between forward and backward pass: which layers keep what, and the transfers to host memory
// and back.
#pragma once

#include <optional>
#include <vector>

#include "workload/layout/stage_chunks.h"
#include "workload/memory/kept_layers.h"
#include "workload/parallel/offload.h"

namespace ringwright::workload {

class StageActivations {
 public:
  StageActivations(const std::vector<ModelChunk>& parts, const KernelContext& context, const OffloadOptions& options,
                   HostTraffic& host);

  [[nodiscard]] const KeptLayers& kept_of(int chunk) const { return kept_[static_cast<std::size_t>(chunk)]; }
  // Of the layer that ends at this point, to host memory.
  void store(ProgramWriter& writer, int chunk, std::size_t point);
  // Of this layer, and of the previous one while this one is computed.
  void fetch(ProgramWriter& writer, int chunk, std::size_t point);

 private:
  [[nodiscard]] const ModelChunk& part_of(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  // Bytes in host memory that must be fetched before the backward pass of this point.
  [[nodiscard]] Bytes awaited(int chunk, std::size_t point) const;

  const std::vector<ModelChunk>& parts_;  // by chunk
  std::vector<KeptLayers> kept_;          // by chunk
  int layers_in_host_;                    // the first ones of each chunk
  HostTraffic& host_;
  std::optional<TaskIndex> fetched_;  // of the current layer
};

}  // namespace ringwright::workload
