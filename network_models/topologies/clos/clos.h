// A Clos network of hosts: builds nodes and links from its counts, and routes by formula.
#pragma once

#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "network_models/topologies/clos/clos_shape.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

struct ClosPlan {
  Host host;
  ClosShape shape;
  Routing routing;
};

[[nodiscard]] Network build_clos(const ClosPlan& plan);

}  // namespace ringwright::network_models
