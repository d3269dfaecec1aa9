// Parts of thread blocks from their keys.
#include "collectives/channels/block_parts.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ringwright::collectives {

void parts_by_key(std::span<const int> keys, std::vector<int>& parts) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [keys](int block) { return keys[static_cast<std::size_t>(block)]; });
  parts.resize(keys.size());
  for (std::size_t part = 0; part < order.size(); ++part) {
    parts[static_cast<std::size_t>(order[part])] = static_cast<int>(part);
  }
}

}  // namespace ringwright::collectives
