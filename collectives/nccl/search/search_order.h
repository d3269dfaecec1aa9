// In which order NCCL's search tries GPUs after a GPU (graph/search.cc): those best reached from the network first when
// the channel goes back there, then those best reached from here.
#pragma once

#include <span>
#include <vector>

#include "collectives/nccl/topology/topology.h"

namespace ringwright::collectives {

class NcclOrder {
 public:
  // The topology must outlive this.
  explicit NcclOrder(const NcclTopology& topology);

  // All GPUs that `gpu` reaches, in order; `net` -1: the network does not matter any more.
  [[nodiscard]] std::span<const int> after(int gpu, int net);
  // As far and as wide from `gpu`, all of them.
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
  std::vector<std::vector<int>> lists_;  // by (net + 1) * GPUs + gpu; empty: not asked for yet
};

}  // namespace ringwright::collectives
