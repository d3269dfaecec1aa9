// A drawing of a fabric as Graphviz text: all of a small one, the first hosts and their switches of a large one.
#pragma once

#include <cstddef>
#include <string>

#include "core/fabric/fabric.h"

namespace ringwright {

struct DrawingLimits {
  std::size_t max_nodes = 400;    // above this only a subset is drawn, and a note states it
  std::size_t hosts_of_part = 2;  // whose nodes are then drawn, with the switches above them
};

[[nodiscard]] std::string graphviz(const Fabric& fabric, const DrawingLimits& limits = {});

}  // namespace ringwright
