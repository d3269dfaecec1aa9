#include "workload/parallel/layer_fusion.h"

#include <algorithm>
#include <limits>

namespace ringwright::workload {

std::vector<std::size_t> fused_groups(const std::vector<ReadyGradient>& gradients, const GroupCost& cost) {
  const std::size_t count = gradients.size();
  std::vector<double> end(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin(count + 1, 0);  // of the last group
  end[0] = 0.0;
  for (std::size_t last = 1; last <= count; ++last) {
    double size = 0.0;
    for (std::size_t first = last; first-- > 0;) {
      size += static_cast<double>(gradients[first].elements);
      const double starts = std::max(gradients[last - 1].ready, end[first]);
      const double ends = starts + cost.overhead + cost.per_element * size;
      if (ends > end[last]) continue;  // of equal ones the larger group
      end[last] = ends;
      begin[last] = first;
    }
  }
  std::vector<std::size_t> ends;
  for (std::size_t last = count; last > 0; last = begin[last]) ends.push_back(last);
  std::ranges::reverse(ends);
  return ends;
}

}  // namespace ringwright::workload
