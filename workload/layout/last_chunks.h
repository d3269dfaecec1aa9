// The contents of the stages of the layouts that were looked at last: those that follow each other in a search often
// differ in nothing that decides about layers and their tensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "workload/layout/stage_chunks.h"

namespace ringwright::workload {

// Of one model.
class LastChunks {
 public:
  // By stage. The reference holds until a layout of other sizes.
  [[nodiscard]] const std::vector<std::vector<ModelChunk>>& of(const ModelShape& shape,
                                                               const ParallelOptions& parallel);

 private:
  // Stages, chunks of each and where they are placed; sizes by which tensors are split.
  using Sizes = std::tuple<int, int, Placement, std::int64_t, std::int64_t, std::int64_t>;
  [[nodiscard]] static Sizes sizes_of(const ParallelOptions& parallel);

  std::optional<Sizes> sizes_;
  std::map<std::vector<std::int64_t>, std::vector<std::vector<ModelChunk>>> by_layers_;  // of the chunks
};

}  // namespace ringwright::workload
