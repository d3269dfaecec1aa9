// Which ranks train a layer table, and which hosts are its parameter servers.
#pragma once

#include <cstdint>

#include "core/plan/collective_call.h"

namespace ringwright::workload {

struct LayeredLayout {
  std::int64_t ranks = 1;       // of the job
  std::int64_t host_ranks = 1;  // of each host; used with parameter servers
  ParameterServers servers;     // the last hosts; none: gradients are all-reduced

  // Ranks with a copy of all layers, the first ones.
  [[nodiscard]] std::int64_t workers() const {
    return ranks - (servers.dedicated ? servers.count * host_ranks : 0);
  }
  [[nodiscard]] bool is_server(std::int64_t rank) const { return rank >= ranks - servers.count * host_ranks; }
};

}  // namespace ringwright::workload
