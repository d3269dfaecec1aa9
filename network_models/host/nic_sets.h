// Which hosts of a cluster are missing some of their NICs, for the whole run.
#pragma once

#include <cstdint>
#include <vector>

namespace ringwright::network_models {

// Hosts that miss the same NICs have the same set. Set 0 is that of a complete host.
struct NicSets {
  std::vector<std::vector<int>> missing;  // by set: the missing NICs, ascending; empty: no host misses any
  std::vector<int> of_host;               // by host; empty: all hosts are complete

  [[nodiscard]] bool empty() const { return of_host.empty(); }
};

}  // namespace ringwright::network_models
