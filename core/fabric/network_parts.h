// What the network between hosts is built of, for its price and power.
#pragma once

#include <cstddef>

#include "core/fabric/fabric.h"

namespace ringwright {

struct NetworkParts {
  std::size_t switches = 0;
  std::size_t ports = 0;         // of switches, in use; each half of a split port counts
  std::size_t transceivers = 0;  // one at each end of a cable: all cables are taken as optical
};

// NVSwitches and PCIe switches belong to hosts.
[[nodiscard]] NetworkParts network_parts(const Fabric& fabric);

}  // namespace ringwright
