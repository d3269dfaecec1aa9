// Collectives given as graphs: for each position sends, receives and computations with dependencies.
#pragma once

#include <cstdint>

namespace ringwright {

class ChunkStreams;

class ChunkGraphs {
 public:
  virtual ~ChunkGraphs() = default;
  virtual void start(std::uint32_t chunk, ChunkStreams& streams) = 0;
};

}  // namespace ringwright
