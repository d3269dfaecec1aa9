// Memory of one rank of a pipeline stage outside its GPU, in host memory and on drives, item by item.
//
// ZeRO-Offload (arXiv 2101.06840, section 4.1): gradients in the working type and the optimizer's state, 2 + 12 bytes
// of each parameter that the rank owns. ZeRO-Infinity (arXiv 2104.07857): the state is on drives, and host memory holds
// the sub-groups being read, updated and written. Activations: the peak of offloaded bytes.
#pragma once

#include <vector>

#include "workload/memory/memory.h"

namespace ringwright::workload {

struct HostHoldings {
  int stage = 0;
  std::vector<MemoryItem> memory;
  std::vector<MemoryItem> drives;
};

// By stage; empty without offloading.
[[nodiscard]] std::vector<HostHoldings> host_holdings(const StepInputs& inputs);

}  // namespace ringwright::workload
