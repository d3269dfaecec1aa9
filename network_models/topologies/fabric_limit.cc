#include "network_models/topologies/fabric_limit.h"

#include <fmt/format.h>

namespace ringwright::network_models {

void check_cables(ConfigMap& fabric, std::string_view key, double cables) {
  if (cables <= kMostCables) return;
  fabric.error(
      key, "E120",
      fmt::format("switches of this fabric would be connected by {:.2g} cables, and at most {:.0e} can be built",
                  cables, kMostCables),
      "leave out sizes that follow from 'cluster.nodes', or make them smaller");
}

}  // namespace ringwright::network_models
