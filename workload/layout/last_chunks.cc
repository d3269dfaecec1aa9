#include "workload/layout/last_chunks.h"

namespace ringwright::workload {

LastChunks::Sizes LastChunks::sizes_of(const ParallelOptions& parallel) {
  return {parallel.pp, parallel.virtual_stages, parallel.placement,
          parallel.tp, parallel.experts.ep,     parallel.experts.etp};
}

const std::vector<std::vector<ModelChunk>>& LastChunks::of(const ModelShape& shape, const ParallelOptions& parallel) {
  const Sizes sizes = sizes_of(parallel);
  if (sizes_ != sizes) by_layers_.clear();
  sizes_ = sizes;
  const auto [known, is_new] = by_layers_.try_emplace(parallel.layers_per_part);
  if (!is_new) return known->second;
  for (int stage = 0; stage < parallel.pp; ++stage) known->second.push_back(stage_chunks(shape, parallel, stage));
  return known->second;
}

}  // namespace ringwright::workload
