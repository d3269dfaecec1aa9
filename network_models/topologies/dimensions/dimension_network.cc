#include "network_models/topologies/dimensions/dimension_network.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "network_models/host/path_builder.h"

namespace ringwright::network_models {
namespace {

// Dimension by dimension, rank by rank. Switch: a rank's link to it, then the one back. Ring: clockwise, then the
// other. Fully connected: to the next rank, to the one after it, and so on.
class DimensionLinks {
 public:
  explicit DimensionLinks(const AstraTopology& topology) {
    const std::uint32_t ranks = topology.ranks();
    std::uint32_t next = 0;
    std::uint32_t stride = 1;
    for (const AstraDimension& dimension : topology.dimensions) {
      const std::uint32_t others = dimension.nodes - 1;
      std::uint32_t per_rank = dimension.block == AstraBlock::kFullyConnected ? others : 2;
      if (others == 0) per_rank = 0;
      rows_.push_back({.first = next, .per_rank = per_rank, .stride = stride, .nodes = dimension.nodes});
      next += ranks * per_rank;
      stride *= dimension.nodes;
    }
  }

  [[nodiscard]] std::uint32_t index(std::uint32_t rank, std::size_t d) const {
    return rank / rows_[d].stride % rows_[d].nodes;
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t rank, std::size_t d, std::uint32_t index_there) const {
    return rank + (index_there - index(rank, d)) * rows_[d].stride;  // unsigned wrap-around is intended
  }
  [[nodiscard]] std::uint32_t link(std::uint32_t rank, std::size_t d, std::uint32_t number) const {
    return rows_[d].first + rank * rows_[d].per_rank + number;
  }

 private:
  struct Row {
    std::uint32_t first = 0;
    std::uint32_t per_rank = 0;
    std::uint32_t stride = 1;
    std::uint32_t nodes = 1;
  };
  std::vector<Row> rows_;
};

Duration latency_of(const AstraDimension& dimension) {
  return Duration(static_cast<std::int64_t>(std::llround(dimension.latency_ns * 1000.0)));
}

class DimensionRouter final : public Router {
 public:
  DimensionRouter(const DimensionPlan& plan, std::span<const Bandwidth> capacities)
      : topology_(plan.topology),
        crossed_(plan.crossed),
        links_(plan.topology),
        capacities_(capacities.begin(), capacities.end()) {}

  // The apex of a path is the last switch on it.
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    PathBuilder builder(hops, query.route_kind);
    std::uint32_t here = query.from.value;
    for (std::size_t d = 0; d < topology_.dimensions.size(); ++d) {
      const std::uint32_t to = links_.index(query.to.value, d);
      if (links_.index(here, d) == to) continue;
      const std::uint32_t there = links_.at(here, d, to);
      cross(here, there, d, builder);
      if (crossed_ == CrossedDimensions::kFirst) break;
      here = there;
    }
    return builder.latency();
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  void cross(std::uint32_t from, std::uint32_t to, std::size_t d, PathBuilder& builder) const {
    const AstraDimension& dimension = topology_.dimensions[d];
    const std::uint32_t ahead = (links_.index(to, d) + dimension.nodes - links_.index(from, d)) % dimension.nodes;
    const auto add = [&](std::uint32_t rank, std::uint32_t number) {
      builder.add(links_.link(rank, d, number));
      builder.wait(latency_of(dimension));
    };
    switch (dimension.block) {
      case AstraBlock::kFullyConnected:
        if (builder.up_wanted()) add(from, ahead - 1);
        return;
      case AstraBlock::kSwitch:
        if (builder.up_wanted()) add(from, 0);
        if (builder.down_wanted()) add(to, 1);
        return;
      case AstraBlock::kRing: break;
    }
    if (!builder.up_wanted()) return;
    const bool clockwise = ahead <= dimension.nodes - ahead;
    const std::uint32_t steps = clockwise ? ahead : dimension.nodes - ahead;
    for (std::uint32_t i = 0; i < steps; ++i) {
      add(from, clockwise ? 0 : 1);
      from = links_.at(from, d, (links_.index(from, d) + (clockwise ? 1 : dimension.nodes - 1)) % dimension.nodes);
    }
  }

  AstraTopology topology_;
  CrossedDimensions crossed_;
  DimensionLinks links_;
  std::vector<Bandwidth> capacities_;
};

void add_dimension(Fabric& fabric, const AstraTopology& topology, const DimensionLinks& links, std::size_t d) {
  const AstraDimension& dimension = topology.dimensions[d];
  const std::uint32_t ranks = topology.ranks();
  std::vector<NodeId> switch_of(ranks);
  for (std::uint32_t rank = 0; rank < ranks && dimension.block == AstraBlock::kSwitch; ++rank) {
    const std::uint32_t first = links.at(rank, d, 0);
    switch_of[rank] = first == rank ? fabric.add_node({.kind = NodeKind::kSwitch,
                                                       .first = static_cast<std::int32_t>(d),
                                                       .second = static_cast<std::int32_t>(rank)})
                                    : switch_of[first];
  }
  const auto add = [&](NodeId from, NodeId to) {
    fabric.add_link({.from = from,
                     .to = to,
                     .bandwidth = Bandwidth(dimension.gigabytes_per_second * kAstraGigabyte),
                     .latency = latency_of(dimension)});
  };
  for (std::uint32_t rank = 0; rank < ranks && dimension.nodes > 1; ++rank) {
    const auto ahead = [&](std::uint32_t steps) {
      return NodeId(links.at(rank, d, (links.index(rank, d) + steps) % dimension.nodes));
    };
    switch (dimension.block) {
      case AstraBlock::kSwitch:
        add(NodeId(rank), switch_of[rank]);
        add(switch_of[rank], NodeId(rank));
        break;
      case AstraBlock::kRing:
        add(NodeId(rank), ahead(1));
        add(NodeId(rank), ahead(dimension.nodes - 1));
        break;
      case AstraBlock::kFullyConnected:
        for (std::uint32_t steps = 1; steps < dimension.nodes; ++steps) add(NodeId(rank), ahead(steps));
        break;
    }
  }
}

class Dimensions final : public Topology {
 public:
  explicit Dimensions(DimensionPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Network build() const override { return build_dimensions(plan_); }
  void pass_through_host_memory(Bandwidth /*copies*/) override {}
  void leave_out_nvlink() override {}
  void leave_out_nics(const NicSets& /*sets*/) override {}
  [[nodiscard]] const AstraTopology* dimensions() const override { return &plan_.topology; }

 private:
  DimensionPlan plan_;
};

}  // namespace

Network build_dimensions(const DimensionPlan& plan) {
  Network network;
  Fabric& fabric = network.fabric;
  const DimensionLinks links(plan.topology);
  for (std::uint32_t rank = 0; rank < plan.topology.ranks(); ++rank) {
    fabric.add_gpu(fabric.add_node({.kind = NodeKind::kGpu,
                                    .first = static_cast<std::int32_t>(rank / plan.gpus_per_host),
                                    .second = static_cast<std::int32_t>(rank % plan.gpus_per_host)}));
  }
  for (std::size_t d = 0; d < plan.topology.dimensions.size(); ++d) add_dimension(fabric, plan.topology, links, d);
  network.router = std::make_unique<DimensionRouter>(plan, fabric.capacities());
  return network;
}

std::unique_ptr<Topology> make_dimensions(DimensionPlan plan) {
  return std::make_unique<Dimensions>(std::move(plan));
}

}  // namespace ringwright::network_models
