// A torus of hosts: numbering, building, and dimension-order routing (Dally and Seitz, IEEE Trans. Computers 1987).
#include "network_models/topologies/torus/torus.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/cable_ends.h"
#include "network_models/topologies/central_router.h"
#include "network_models/topologies/graph/graph_router.h"

namespace ringwright::network_models {
namespace {

// Hosts' blocks first, then NIC cables, then the rows' cables: dimension by dimension, row by row. Every cable has two
// links: NIC to router and back, or towards the higher coordinate (across the wrap: to coordinate 0) and back.
class TorusLinks {
 public:
  TorusLinks(const TorusShape& shape, const HostBlock& block)
      : shape_(shape),
        first_nic_(block.first_nic()),
        first_router_(block.first_node(shape.hosts())),
        first_cable_(block.first_link(shape.hosts())) {
    std::uint32_t next = first_cable_ + 2 * first_nic_(shape.hosts());
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < kTorusDimensions; ++d) {
      stride_[d] = stride;
      first_in_[d] = next;
      next += 2 * (shape.hosts() / shape.sizes[d]) * shape.row_cables(d);
      stride *= shape.sizes[d];
    }
  }

  [[nodiscard]] std::uint32_t router(std::uint32_t host) const { return first_router_ + host; }
  [[nodiscard]] std::uint32_t cable(std::uint32_t host, std::uint32_t nic) const {
    return first_cable_ + 2 * (first_nic_(host) + nic);
  }
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t host, std::size_t d) const {
    return host / stride_[d] % shape_.sizes[d];
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t host, std::size_t d, std::uint32_t coordinate_there) const {
    return host + (coordinate_there - coordinate(host, d)) * stride_[d];  // unsigned wrap-around is intended
  }
  // The cable that leaves `host` towards the higher coordinate of a dimension.
  [[nodiscard]] std::uint32_t row_cable(std::uint32_t host, std::size_t d) const {
    const std::uint32_t row = host / (stride_[d] * shape_.sizes[d]) * stride_[d] + host % stride_[d];
    return first_in_[d] + 2 * (row * shape_.row_cables(d) + coordinate(host, d));
  }

 private:
  TorusShape shape_;
  HostOffsets first_nic_;
  std::uint32_t first_router_;
  std::uint32_t first_cable_;
  std::array<std::uint32_t, kTorusDimensions> stride_ = {};
  std::array<std::uint32_t, kTorusDimensions> first_in_ = {};
};

enum class End { kLeft, kEntered };

class TorusRouter final : public Router {
 public:
  TorusRouter(const TorusPlan& plan, HostBlock block, std::span<const Bandwidth> capacities)
      : block_(std::move(block)),
        shape_(plan.shape),
        links_(shape_, block_),
        capacities_(capacities.begin(), capacities.end()) {}

  // No switch of a torus is above the others: the sender's router is taken as the apex.
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const auto row_by_row = [&](const HostEnds& ends, PathBuilder& builder) {
      std::uint32_t here = ends.from_host;
      for (std::size_t d = 0; d < kTorusDimensions; ++d) {
        here = walk(here, links_.coordinate(ends.to_host, d), d, builder);
      }
    };
    const auto by_direction = [&](const HostEnds& ends, NicEnds& nics) {
      if (query.route_kind != RouteKind::kPxn && query.nics.out < 0) {
        const std::uint32_t out = nic_towards(ends.from_host, ends.from_gpu, ends, End::kLeft);
        if (block_.has_nic(ends.from_host, out)) nics = {.relay = ends.from_gpu, .out = out, .in = nics.in};
      }
      const std::uint32_t in = nic_towards(ends.to_host, ends.to_gpu, ends, End::kEntered);
      if (query.nics.in < 0 && block_.has_nic(ends.to_host, in)) nics.in = in;
    };
    return route_over_cables(query, block_, links_, shape_.latency, hops, row_by_row, by_direction);
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  // For a GPU with several NICs, each NIC serves some of the directions in which its bytes leave, or arrive.
  [[nodiscard]] std::uint32_t nic_towards(std::uint32_t host, std::uint32_t gpu, const HostEnds& ends,
                                          End end) const {
    std::uint32_t directions = 0;
    std::uint32_t wanted = 0;
    bool found = false;
    for (std::size_t d = 0; d < kTorusDimensions; ++d) {
      if (shape_.sizes[d] < 2) continue;
      const std::uint32_t at = links_.coordinate(ends.from_host, d);
      const std::uint32_t target = links_.coordinate(ends.to_host, d);
      if (at != target && (!found || end == End::kEntered)) {
        wanted = directions + (goes_upward(at, target, d) ? 0 : 1);
        found = true;
      }
      directions += 2;
    }
    return block_.own_nic(host, gpu, directions == 0 ? 0 : wanted * block_.nics_of(host, gpu) / directions);
  }
  [[nodiscard]] bool goes_upward(std::uint32_t at, std::uint32_t target, std::size_t d) const {
    const std::uint32_t size = shape_.sizes[d];
    return shape_.wraps(d) ? 2 * ((target + size - at) % size) <= size : target > at;
  }

  std::uint32_t walk(std::uint32_t host, std::uint32_t target, std::size_t d, PathBuilder& builder) const {
    const std::uint32_t size = shape_.sizes[d];
    const std::uint32_t at = links_.coordinate(host, d);
    const std::uint32_t ahead = (target + size - at) % size;
    const bool upward = goes_upward(at, target, d);
    const std::uint32_t steps = upward ? ahead : size - ahead;
    for (std::uint32_t i = 0; i < steps && ahead != 0; ++i) {
      const std::uint32_t now = links_.coordinate(host, d);
      const std::uint32_t next = upward ? (now + 1) % size : (now + size - 1) % size;
      const std::uint32_t neighbour = links_.at(host, d, next);
      builder.add(upward ? links_.row_cable(host, d) : links_.row_cable(neighbour, d) + 1);
      builder.wait(shape_.latency.hop + shape_.latency.cable);
      host = neighbour;
    }
    return host;
  }

  HostBlock block_;
  TorusShape shape_;
  TorusLinks links_;
  std::vector<Bandwidth> capacities_;
};

// Where the wrap of dimension d leads, instead of straight to `host`.
std::uint32_t twisted(const TorusShape& shape, const TorusLinks& links, std::uint32_t host, std::size_t d) {
  for (std::size_t e = 0; e < kTorusDimensions; ++e) {
    if (shape.sizes[e] != 2 * shape.sizes[d]) continue;
    host = links.at(host, e, (links.coordinate(host, e) + shape.sizes[d]) % shape.sizes[e]);
  }
  return host;
}

void add_rows(Fabric& fabric, const TorusShape& shape, const TorusLinks& links, std::size_t d) {
  const Duration switched = shape.latency.hop + shape.latency.cable;
  for (std::uint32_t host = 0; host < shape.hosts(); ++host) {
    if (links.coordinate(host, d) != 0) continue;  // the first host of each row represents it, in the rows' order
    for (std::uint32_t i = 0; i < shape.row_cables(d); ++i) {
      const std::uint32_t here = links.at(host, d, i);
      std::uint32_t next = links.at(host, d, (i + 1) % shape.sizes[d]);
      if (shape.twist && i + 1 == shape.sizes[d]) next = twisted(shape, links, next, d);
      const LinkId added = fabric.add_duplex({.from = NodeId(links.router(here)),
                                              .to = NodeId(links.router(next)),
                                              .bandwidth = shape.speed,
                                              .latency = switched});
      DCHECK(added.value == links.row_cable(here, d), "rows are numbered as in TorusLinks");
    }
  }
}

}  // namespace

Network build_torus(const TorusPlan& plan) {
  const HostBlock block(plan.host);
  const TorusShape& shape = plan.shape;
  const TorusLinks links(shape, block);
  const FabricLatency& latency = shape.latency;
  Network network;
  Fabric& fabric = network.fabric;
  block.append_hosts(fabric, shape.hosts());
  for (std::uint32_t host = 0; host < shape.hosts(); ++host) {
    fabric.add_node({.kind = NodeKind::kSwitch, .first = static_cast<std::int32_t>(host)});
  }
  for (std::uint32_t host = 0; host < shape.hosts(); ++host) {
    const NodeId router(links.router(host));
    const Bandwidth cable = plan.host.kind_at(host).nic.data_rate();
    const Duration through = latency.nic + block.more_nic_latency(host);
    for (std::uint32_t nic = 0; nic < block.nics_at(host); ++nic) {
      const NodeId node = block.nic_node(host, nic);
      fabric.add_link({.from = node, .to = router, .bandwidth = cable, .latency = through + latency.cable});
      fabric.add_link(
          {.from = router, .to = node, .bandwidth = cable, .latency = latency.hop + latency.cable + through});
    }
  }
  for (std::size_t d = 0; d < kTorusDimensions; ++d) add_rows(fabric, shape, links, d);
  if (plan.shortest) {
    network.router = std::make_unique<GraphRouter>(fabric, GraphRouter::Settings{.routing = *plan.shortest});
    return with_central_routing(std::move(network), *plan.shortest);
  }
  network.router = std::make_unique<TorusRouter>(plan, block, fabric.capacities());
  return network;
}

}  // namespace ringwright::network_models
