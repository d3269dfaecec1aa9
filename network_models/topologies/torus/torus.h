// A torus (or mesh) of hosts in one to three dimensions: each host has a router that is connected to its neighbours'.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/units.h"
#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

inline constexpr std::size_t kTorusDimensions = 3;

struct TorusShape {
  std::array<std::uint32_t, kTorusDimensions> sizes = {1, 1, 1};  // host = x + sizes[0] * (y + sizes[1] * z)
  bool wrap = true;                                               // rings instead of rows, where a row has 3 or more
  // The link around a dimension also shifts by half of each dimension that is twice as long, which shortens paths
  // (Camarero, Martinez and Beivide, IEEE Trans. Computers 2013; TPU v4, ISCA 2023, section 2.8).
  bool twist = false;
  Bandwidth speed;                                                // of a link between neighbours, one direction
  FabricLatency latency;

  [[nodiscard]] std::uint32_t hosts() const { return sizes[0] * sizes[1] * sizes[2]; }
  [[nodiscard]] bool wraps(std::size_t dimension) const { return wrap && sizes[dimension] > 2; }
  // Cables of one row along a dimension.
  [[nodiscard]] std::uint32_t row_cables(std::size_t dimension) const {
    return wraps(dimension) ? sizes[dimension] : sizes[dimension] - 1;
  }
};

struct TorusPlan {
  Host host;
  TorusShape shape;
  std::optional<Routing> shortest;  // over all shortest paths; empty: dimension by dimension
};

// Routed dimension by dimension (x, then y, then z), in the shorter direction; on a tie upwards. Where a host has
// several NICs for each GPU, bytes leave by the one that serves their outgoing direction, and enter by the one that
// serves their incoming direction.
// With `shortest` as in a graph (graph/graph_router.h), which a twisted torus needs.
[[nodiscard]] Network build_torus(const TorusPlan& plan);

}  // namespace ringwright::network_models
