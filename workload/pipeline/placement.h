// The placement of model chunks: parts are numbered in model order, chunks within their stage.
#pragma once

#include <optional>

namespace ringwright::workload {

enum class Placement {
  kLooped,         // chunk c of stage i is part c * p + i: every stage, then from the first again
  kVee,            // V shape of two chunks: part i, and part 2p - 1 - i
  kBidirectional,  // two copies of p parts: chunk 0 is part i, chunk 1 is part p - 1 - i of the copy that runs
                   // backwards
};

struct PipelineShape {
  Placement placement = Placement::kLooped;
  int stages = 1;
  int chunks = 1;  // per stage

  [[nodiscard]] int parts() const { return placement == Placement::kBidirectional ? stages : stages * chunks; }
};

struct ChunkPosition {
  int stage = 0;
  int chunk = 0;
  friend bool operator==(const ChunkPosition&, const ChunkPosition&) = default;
};

[[nodiscard]] int part_at(const PipelineShape& shape, const ChunkPosition& place);
// Location of the next (step 1) or previous (step -1) part, if any; may be the same stage.
[[nodiscard]] std::optional<ChunkPosition> neighbour(const PipelineShape& shape, const ChunkPosition& place, int step);

}  // namespace ringwright::workload
