// Paths through an explicit network: fewest links; among equals the routing policy chooses at every node.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

enum class GpuTransit : std::uint8_t { kForbidden, kAllowed };

class GraphRouter final : public Router {
 public:
  struct Settings {
    Routing routing;
    GpuTransit transit = GpuTransit::kForbidden;
  };
  GraphRouter(const Fabric& fabric, const Settings& settings);

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

  // Pairs of ranks with no path between them, the first `most`.
  [[nodiscard]] std::vector<std::pair<RankId, RankId>> unreachable(std::size_t most) const;

 private:
  struct Out {
    std::uint32_t link = 0;
    std::uint32_t to = 0;
    Duration latency;
  };
  struct Walk {
    std::vector<std::uint32_t> links;
    std::vector<Duration> latencies;  // of those links
    std::size_t apex = 0;             // the first `apex` links lead to the highest switch
  };

  [[nodiscard]] std::span<const Out> out(std::uint32_t node) const {
    return std::span(outs_).subspan(first_out_[node], first_out_[node + 1] - first_out_[node]);
  }
  [[nodiscard]] std::uint16_t distance(std::uint32_t node, std::uint32_t to_rank) const {
    return distances_[to_rank * kinds_.size() + node];
  }
  void measure(const Fabric& fabric, GpuTransit transit);
  // The detour around links that are down: for one rank, the nodes that still lead to it over ever nearer nodes.
  class Detour;
  // The out-links of a node that lead nearer, and the chosen one of them.
  [[nodiscard]] std::uint32_t nearer_count(std::uint32_t node, const Detour& detour) const;
  [[nodiscard]] const Out& nearer(std::uint32_t node, std::uint32_t which, const Detour& detour) const;
  [[nodiscard]] Walk walk(const RouteQuery& query, std::uint32_t queue_pair, const Detour& detour) const;
  void spray(const RouteQuery& query, const Walk& pattern, const Detour& detour, PathBuilder& builder) const;

  Routing routing_;
  std::vector<NodeKind> kinds_;           // by node
  std::vector<std::uint32_t> gpus_;       // by rank
  std::vector<Out> outs_;                 // by node: its links out, concatenated
  std::vector<std::uint32_t> first_out_;  // by node, one more at the end
  std::vector<std::uint16_t> distances_;  // by rank, by node: links from the node to the rank's GPU
  std::vector<Bandwidth> capacities_;
};

}  // namespace ringwright::network_models
