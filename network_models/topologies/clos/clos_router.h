// Paths through a Clos network, computed from the ends' numbers; nothing is stored per pair of GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ports/router.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/clos/clos_links.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

class ClosRouter final : public Router {
 public:
  struct Inputs {
    HostBlock block;
    ClosShape shape;
    Routing routing;
    std::vector<Bandwidth> capacities;
  };
  explicit ClosRouter(Inputs inputs);

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const LinkId> twins() const override { return twins_; }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  // The position of a rank.
  struct End {
    std::uint32_t host = 0;
    std::uint32_t gpu = 0;
    std::uint32_t nic = 0;
    std::uint32_t rail = 0;
    std::uint32_t leaf = 0;
    std::uint32_t pod = 0;
  };
  // Which of the parallel links are taken: leaf to spine, spine to core, core to spine, spine to leaf.
  struct ParallelLinks {
    std::uint32_t from_leaf = 0;
    std::uint32_t to_leaf = 0;
    std::uint32_t up = 0;
    std::uint32_t core_up = 0;
    std::uint32_t core_down = 0;
    std::uint32_t down = 0;
  };

  // A part of the traffic between two NICs: the ports by which it leaves and enters.
  struct PortPair {
    std::uint32_t out = 0;
    std::uint32_t in = 0;
  };
  static constexpr std::uint32_t kMaxPorts = 2;
  // Equal parts.
  struct PortPairs {
    std::array<PortPair, kMaxPorts> pairs = {};
    std::uint32_t count = 0;

    void add(const PortPair& pair) { pairs[count++] = pair; }
    [[nodiscard]] std::span<const PortPair> all() const { return std::span(pairs).first(count); }
    [[nodiscard]] double share() const { return count == 1 ? 1.0 : 1.0 / static_cast<double>(count); }
  };
  // A part that crosses the spines, between the leaves of its ports.
  struct Crossing {
    End from;
    End to;
  };
  struct Crossings {
    std::array<Crossing, kMaxPorts> parts = {};
    std::uint32_t count = 0;
    double share = 1.0;  // of each

    [[nodiscard]] std::span<const Crossing> all() const { return std::span(parts).first(count); }
  };

  [[nodiscard]] End locate(std::uint32_t host, std::uint32_t gpu, std::uint32_t nic) const;
  [[nodiscard]] NicEnds nics_of(const RouteQuery& query, const HostEnds& ends) const;
  [[nodiscard]] PortPairs port_pairs(const RouteQuery& query, const End& from, const End& to) const;
  [[nodiscard]] static Crossing crossing_of(const PortPair& pair, const End& from, const End& to);
  [[nodiscard]] static Crossings find_crossings(const PortPairs& ports, const End& from, const End& to);
  [[nodiscard]] bool is_usable(const PortPair& pair, const Crossing& ends, const LinksDown& down) const;
  [[nodiscard]] ParallelLinks static_links(const End& to) const;
  [[nodiscard]] ParallelLinks hashed_links(std::uint64_t hash) const;
  // The next parallel links from the wanted ones on that are up; the wanted ones when there are none.
  [[nodiscard]] ParallelLinks healthy_links(const ParallelLinks& wanted, const End& from, const End& to,
                                            const LinksDown& down) const;
  [[nodiscard]] std::optional<ParallelLinks> healthy_core_links(const ParallelLinks& wanted, const End& from,
                                                                const End& to, const LinksDown& down) const;
  void between_leaves(const RouteQuery& query, const Crossings& crossings, PathBuilder& builder) const;
  [[nodiscard]] ParallelLinks links_for(ParallelLinks wanted, const Crossing& crossing, const LinksDown* down) const;
  void add_paths(std::span<const ParallelLinks> paths, const Crossings& crossings, PathBuilder& builder) const;
  void add_all_paths(const Crossings& crossings, bool first_of_twins, PathBuilder& builder) const;
  void pair_twins();
  class HealthyPaths;
  [[nodiscard]] bool has_path(const Crossing& crossing, const LinksDown& down) const;
  [[nodiscard]] bool add_healthy_paths(const Crossings& crossings, const LinksDown& down, PathBuilder& builder) const;

  HostBlock block_;
  ClosShape shape_;
  Routing routing_;
  std::vector<Bandwidth> capacities_;
  std::vector<LinkId> twins_;  // where paths are sprayed; else empty
  ClosLinks links_;
  Duration into_leaf_;    // NIC to leaf
  Duration switched_;     // any link that leaves a switch for a switch
  Duration out_of_leaf_;  // leaf to NIC
};

}  // namespace ringwright::network_models
