// A call of which tests ask what an algorithm and protocol would cost it, and how it would be shared out.
#pragma once

#include <string>

#include "collectives/nccl/cost/cost.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives {

struct Asked {
  NcclHost host;
  int ranks = 8;
  int per_host = 8;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes = Bytes(1 << 20);
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
};

inline NcclCost cost(const NcclSetup& setup, const Asked& asked) {
  const GroupLayout layout = make_block_layout(asked.ranks, asked.per_host);
  const NcclCostModel model(setup.tables, setup.host, setup.knobs, layout);
  for (const NcclCost& row : model.costs({.kind = asked.kind, .bytes = asked.bytes, .layout = &layout})) {
    if (row.algorithm == asked.algorithm && row.protocol == asked.protocol) return row;
  }
  return {.why_not = "no such row"};
}

inline NcclCost cost(const std::string& version, const Asked& asked) {
  return cost(setup_of(asked.host, version), asked);
}

inline NcclWork work(const NcclSetup& setup, const Asked& asked, int tuned = 0) {
  const GroupLayout layout = make_block_layout(asked.ranks, asked.per_host);
  const NcclCostModel model(setup.tables, setup.host, setup.knobs, layout);
  const CollectiveCall call{.kind = asked.kind, .bytes = asked.bytes, .layout = &layout};
  return share_out(model, setup.host, setup.knobs, call,
                   {.algorithm = asked.algorithm, .protocol = asked.protocol, .channels = tuned});
}

inline NcclWork work(const std::string& version, const Asked& asked) {
  return work(setup_of(asked.host, version), asked);
}

}  // namespace ringwright::collectives
