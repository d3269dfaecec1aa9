// The order in which NCCL's search tries GPUs after a GPU (graph/search.cc): by their path to the network if the
// channel returns there, then by their path from this GPU.
#pragma once

#include <span>
#include <vector>

#include "collectives/nccl/topology/topology.h"

namespace ringwright::collectives {

class NcclOrder {
 public:
  // The topology must outlive this.
  explicit NcclOrder(const NcclTopology& topology);

  // All GPUs that `gpu` reaches, in order; `net` -1: the network no longer matters.
  [[nodiscard]] std::span<const int> after(int gpu, int net);
  // All GPUs at the same distance and bandwidth from `gpu`.
  [[nodiscard]] bool identical(int gpu, std::span<const int> others) const;

 private:
  struct Near {
    int rate = 0;
    int hops = 0;
    friend bool operator==(const Near&, const Near&) = default;
  };
  [[nodiscard]] Near near(int gpu, int to) const;
  [[nodiscard]] std::vector<int> sorted(int gpu, int net) const;

  const NcclTopology& topology_;
  std::vector<std::vector<int>> lists_;  // by (net + 1) * GPUs + gpu; empty: not computed yet
};

}  // namespace ringwright::collectives
