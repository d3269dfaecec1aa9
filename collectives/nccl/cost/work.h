// NCCL's number of channels and threads for a call, given algorithm and protocol: fewer for small sizes.
#pragma once

#include "collectives/nccl/cost/cost.h"
#include "core/base/units.h"

namespace ringwright::collectives {

struct NcclWork {
  int channels = 1;
  int threads = 512;
};

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;  // set by a tuner; 0: NCCL's own number
};

[[nodiscard]] NcclWork share_out(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                 const CollectiveCall& call, const NcclChoice& choice);

// For trees with Simple in versions that cut small buffers finer, so that levels overlap.
[[nodiscard]] Bytes tree_chunk_by_depth(const CollectiveCall& call, int channels, Bytes slot);
// NVLS trees' chunks of versions that start at 512 KiB.
[[nodiscard]] Bytes nvls_tree_chunk_of_old(const CollectiveCall& call, int channels);
// In such versions: the grain of chunks of rings and trees.
[[nodiscard]] Bytes chunk_grain(CollectiveKind kind, const NcclChoice& choice, int threads);

// Sends and receives among all members: channels and chunk size.
struct NcclExchange {
  int channels = 1;
  int of_message = 1;  // channels that share one
  Protocol protocol = Protocol::kSimple;
  Bytes chunk;
};
[[nodiscard]] NcclExchange share_out_exchange(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                              const CollectiveCall& call);
// One send and its receive.
[[nodiscard]] NcclExchange share_out_message(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                             const MessageCall& call);

}  // namespace ringwright::collectives
