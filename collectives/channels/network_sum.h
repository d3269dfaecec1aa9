// Common code of CollNet's algorithms: who contributes to the sums in the network switches, and the chunk size.
#pragma once

#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// Ports of one sum address each other around a ring of hosts.
[[nodiscard]] int next_host(const GroupLayout& layout, int host);
[[nodiscard]] int host_before(const GroupLayout& layout, int host);

// A chunk is halved while the number of loops is small for the depth of the path through a host.
struct NetworkChunk {
  Bytes bytes;         // of the buffer
  int concurrent = 1;  // chunks that all channels move at a time
  int depth = 1;
  Bytes most;
  int loops_at_last = 8;  // per level, before chunks become 32 KiB
};
[[nodiscard]] Bytes network_chunk(const CollectivePlan& plan, const NetworkChunk& wanted);

}  // namespace ringwright::collectives
