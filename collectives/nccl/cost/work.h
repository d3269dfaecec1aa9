// How many channels and threads NCCL gives to a call once algorithm and protocol are chosen: fewer for little data.
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
  int channels = 0;  // asked for by a tuner; 0: NCCL's own number
};

[[nodiscard]] NcclWork share_out(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                 const CollectiveCall& call, const NcclChoice& choice);

// Of trees with Simple in versions that cut small buffers finer, so that their levels overlap.
[[nodiscard]] Bytes tree_chunk_by_depth(const CollectiveCall& call, int channels);
// Of such versions: what chunks of rings and trees are multiples of.
[[nodiscard]] Bytes chunk_grain(CollectiveKind kind, const NcclChoice& choice, int threads);

// Sends and receives among all members: channels and the chunk they move in.
struct NcclExchange {
  int channels = 1;
  Protocol protocol = Protocol::kSimple;
  Bytes chunk;
};
[[nodiscard]] NcclExchange share_out_exchange(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                              const CollectiveCall& call);
// One send and its receive.
[[nodiscard]] NcclExchange share_out_message(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                             const MessageCall& call);

}  // namespace ringwright::collectives
