// LayerFusion: which neighbouring gradients are exchanged together, so that the last exchange of a pass ends earliest.
//
// A group of n elements takes a + b n: a for its launches, latencies and codec, whatever its size, b for each element.
// Its exchange begins when the last of its gradients is ready and the group before has ended. In the order of the
// backward pass the end f(j) of the first j gradients is
//
//   f(j) = min over i < j of max(ready(j), f(i)) + a + b (elements of i + 1 to j),
//
// which is the least, since a group that ends earlier delays none after it. Sketch-Fusion SGD (Zhang et al., JPDC 185,
// 2024) groups so; MG-WFBP (Shi et al., INFOCOM 2019) has the same costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringwright::workload {

// One gradient, in the order of the backward pass.
struct ReadyGradient {
  std::int64_t elements = 0;
  double ready = 0.0;  // seconds after the pass has begun; ascending
};

struct GroupCost {
  double overhead = 0.0;     // seconds of a group
  double per_element = 0.0;  // and of each of its elements
};

// The ends of the groups: a group has the gradients from the end of the one before up to its own. Among groupings that
// end at the same time one with few groups.
[[nodiscard]] std::vector<std::size_t> fused_groups(const std::vector<ReadyGradient>& gradients, const GroupCost& cost);

}  // namespace ringwright::workload
