#include "network_models/topologies/dimensions/seen_dimensions.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "network_models/host/host.h"

namespace ringwright::network_models {
namespace {

// The widest and the narrowest of several paths, and their latencies.
struct PathRange {
  Bandwidth narrowest{std::numeric_limits<double>::infinity()};
  Bandwidth widest{0.0};
  Duration longest;
  std::size_t fewest_links = std::numeric_limits<std::size_t>::max();
  std::size_t most_links = 0;
};

class PathProbe {
 public:
  explicit PathProbe(const Router& router) : router_(router) {}

  void look(std::uint32_t from, std::uint32_t to, PathRange& range) {
    const Duration latency = router_.route({.from = RankId(from), .to = RankId(to)}, hops_);
    double narrowest = std::numeric_limits<double>::infinity();
    for (const Hop& hop : hops_) {
      narrowest = std::min(narrowest, router_.capacities()[hop.link.index()].count() / hop.share);
    }
    range.narrowest = std::min(range.narrowest, Bandwidth(narrowest));
    range.widest = std::max(range.widest, Bandwidth(narrowest));
    range.longest = std::max(range.longest, latency);
    range.fewest_links = std::min(range.fewest_links, hops_.size());
    range.most_links = std::max(range.most_links, hops_.size());
  }

 private:
  const Router& router_;
  std::vector<Hop> hops_;
};

// Per link of the block, of which a path has so many.
AstraDimension dimension_of(AstraBlock block, std::uint32_t nodes, const PathRange& range) {
  const double links = block == AstraBlock::kSwitch ? 2.0 : 1.0;
  return {.block = block,
          .nodes = nodes,
          .gigabytes_per_second = range.narrowest.count() / kAstraGigabyte,
          .latency_ns = static_cast<double>(range.longest.count()) / 1000.0 / links};
}

// The mesh is one cycle through all GPUs, in their order.
bool is_cycle(const Host& host) {
  const auto gpus = static_cast<std::size_t>(host.gpus);
  if (gpus < 3 || host.nvlink.mesh.size() != gpus) return false;
  return std::ranges::all_of(host.nvlink.mesh, [&](const MeshLink& link) {
    const int apart = std::abs(link.a - link.b);
    return apart == 1 || apart == host.gpus - 1;
  });
}

tl::expected<AstraDimension, std::string> see_gpus(const Host& host, PathProbe& probe) {
  const auto gpus = static_cast<std::uint32_t>(host.gpus);
  PathRange all;
  PathRange neighbours;
  for (std::uint32_t from = 0; from < gpus; ++from) {
    for (std::uint32_t to = 0; to < gpus; ++to) {
      if (from != to) probe.look(from, to, all);
    }
    probe.look(from, (from + 1) % gpus, neighbours);
  }
  const bool is_mesh = host.nvlink.kind == ScaleUp::kMesh;
  if (is_mesh && is_cycle(host)) return dimension_of(AstraBlock::kRing, gpus, neighbours);
  if (all.narrowest < all.widest || all.fewest_links != all.most_links) {
    return tl::unexpected(fmt::format("pairs of GPUs of a host differ: {} to {} between them", to_string(all.narrowest),
                                      to_string(all.widest)));
  }
  const bool direct = is_mesh && all.most_links == 1;
  return dimension_of(direct ? AstraBlock::kFullyConnected : AstraBlock::kSwitch, gpus, all);
}

PathRange see_hosts(const SeenCluster& cluster, PathProbe& probe) {
  const auto gpus = static_cast<std::uint32_t>(cluster.host.gpus);
  PathRange range;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    for (std::uint32_t host = 1; host < cluster.hosts; ++host) probe.look(gpu, host * gpus + gpu, range);
  }
  return range;
}

// To the next host along each side.
void see_rings(const SeenCluster& cluster, PathProbe& probe, AstraTopology& topology) {
  const auto gpus = static_cast<std::uint32_t>(cluster.host.gpus);
  std::uint32_t stride = 1;
  for (const int side : cluster.topology.grid()) {
    if (side < 2) continue;
    PathRange range;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) probe.look(gpu, stride * gpus + gpu, range);
    // Of two nodes, a switch of two links has the times of the one cable between them.
    topology.dimensions.push_back(
        dimension_of(side == 2 ? AstraBlock::kSwitch : AstraBlock::kRing, static_cast<std::uint32_t>(side), range));
    stride *= static_cast<std::uint32_t>(side);
  }
}

}  // namespace

tl::expected<AstraTopology, std::string> see_dimensions(const SeenCluster& cluster) {
  if (const AstraTopology* const stated = cluster.topology.dimensions(); stated != nullptr) return *stated;
  if (!cluster.host.kind_of_host.empty()) {
    return tl::unexpected(std::string("its hosts are of several kinds, and the nodes of a dimension are equivalent"));
  }
  const HostsMeet meet = cluster.topology.hosts_meet();
  if (cluster.hosts > 1 && meet == HostsMeet::kOtherwise) {
    return tl::unexpected(std::string("its hosts are joined neither by tiers of switches nor by the rings of a torus"));
  }
  const Network network = cluster.topology.build();
  PathProbe probe(*network.router);
  AstraTopology topology;
  if (cluster.host.gpus > 1) {
    auto gpus = see_gpus(cluster.host, probe);
    if (!gpus) return tl::unexpected(std::move(gpus.error()));
    topology.dimensions.push_back(*gpus);
  }
  if (cluster.hosts > 1 && meet == HostsMeet::kAtSwitches) {
    topology.dimensions.push_back(dimension_of(AstraBlock::kSwitch, cluster.hosts, see_hosts(cluster, probe)));
  }
  if (cluster.hosts > 1 && meet == HostsMeet::kOnRings) see_rings(cluster, probe, topology);
  if (topology.dimensions.empty()) {
    return tl::unexpected(std::string("it has one GPU, and a dimension needs two"));
  }
  return topology;
}

}  // namespace ringwright::network_models
