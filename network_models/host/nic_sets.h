// Which hosts of a cluster go without some of their NICs, from the start and for good.
#pragma once

#include <cstdint>
#include <vector>

namespace ringwright::network_models {

// Hosts that lack the same NICs have the same set. Set 0 is that of a whole host.
struct NicSets {
  std::vector<std::vector<int>> lacking;  // by set: the NICs that it lacks, ascending; empty: no host lacks any
  std::vector<int> of_host;               // by host; empty: all hosts are whole

  [[nodiscard]] bool empty() const { return of_host.empty(); }
};

}  // namespace ringwright::network_models
