#include "core/plan/node_job.h"

#include <algorithm>

namespace ringwright {

std::uint32_t RankGroup::position_of(std::uint32_t rank) const {
  if (members.empty()) return rank;
  const auto found =
      std::ranges::lower_bound(order, rank, {}, [this](std::uint32_t position) { return members[position]; });
  return found != order.end() && members[*found] == rank ? *found : kNoPosition;
}

}  // namespace ringwright
