// How ASTRA-sim cuts a collective into chunks, and each chunk's path over the dimensions of the network into phases.
//
// Sizes: an all-reduce, reduce-scatter or all-to-all has the full buffer of a rank, an all-gather the shard of a rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "collectives/astra/algorithm.h"
#include "core/plan/chunked_collective.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

struct AstraCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t bytes = 0;
  std::vector<std::uint32_t> dimensions;   // nodes of each, the first varies fastest
  std::vector<bool> involved;              // by dimension
  std::vector<AstraAlgorithm> algorithms;  // by dimension
  std::int64_t splits = 1;                 // chunks wanted
  std::int64_t job_ranks = 1;              // no chunk is smaller than this many bytes, but those of an all-gather
  bool in_group = false;                   // a communicator group, not the whole job
  bool local_bandwidth_aware = true;       // all-reduce: reduce-scatter up to the last dimension, and gather back
};

inline constexpr std::int64_t kMostChunks = 1'000'000;

// Or why no such collective exists: "halvingDoubling needs a power of two of ranks, and dimension 0 has 6".
[[nodiscard]] tl::expected<ChunkedCollective, std::string> astra_collective(const AstraCall& call);
// The chunks alone, for collectives whose phases come from elsewhere.
[[nodiscard]] tl::expected<std::uint32_t, std::string> astra_chunks(const AstraCall& call);

// One phase: the messages of an algorithm along a dimension.
struct AstraPhase {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  AstraAlgorithm algorithm;
  std::uint32_t nodes = 2;
  std::int64_t bytes = 0;
  bool in_group = false;
};
[[nodiscard]] ChunkPhase astra_steps(const AstraPhase& phase);

// Bytes of the chunk after the phase.
[[nodiscard]] std::int64_t bytes_after(const AstraPhase& phase);

}  // namespace ringwright::collectives
