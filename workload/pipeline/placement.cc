#include "workload/pipeline/placement.h"

namespace ringwright::workload {

int part_at(const PipelineShape& shape, const ChunkPosition& place) {
  switch (shape.placement) {
    case Placement::kLooped: return place.chunk * shape.stages + place.stage;
    case Placement::kVee: return place.chunk == 0 ? place.stage : 2 * shape.stages - 1 - place.stage;
    case Placement::kBidirectional: return place.chunk == 0 ? place.stage : shape.stages - 1 - place.stage;
  }
  return 0;
}

std::optional<ChunkPosition> neighbour(const PipelineShape& shape, const ChunkPosition& place, int step) {
  const int part = part_at(shape, place) + step;
  if (part < 0 || part >= shape.parts()) return std::nullopt;
  switch (shape.placement) {
    case Placement::kLooped: return ChunkPosition{.stage = part % shape.stages, .chunk = part / shape.stages};
    case Placement::kVee:
      if (part < shape.stages) return ChunkPosition{.stage = part, .chunk = 0};
      return ChunkPosition{.stage = 2 * shape.stages - 1 - part, .chunk = 1};
    case Placement::kBidirectional:
      return ChunkPosition{.stage = place.chunk == 0 ? part : shape.stages - 1 - part, .chunk = place.chunk};
  }
  return std::nullopt;
}

}  // namespace ringwright::workload
