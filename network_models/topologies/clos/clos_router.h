// Paths through a Clos network, computed from the ends' numbers; nothing is stored per pair of GPUs.
#pragma once

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
    std::uint32_t up = 0;
    std::uint32_t core_up = 0;
    std::uint32_t core_down = 0;
    std::uint32_t down = 0;
  };

  [[nodiscard]] End locate(std::uint32_t host, std::uint32_t gpu, std::uint32_t nic) const;
  [[nodiscard]] NicEnds nics_of(const RouteQuery& query, const HostEnds& ends) const;
  [[nodiscard]] ParallelLinks static_links(const End& to) const;
  [[nodiscard]] ParallelLinks hashed_links(std::uint64_t hash) const;
  // The next parallel links from the wanted ones on that are up; the wanted ones when there are none.
  [[nodiscard]] ParallelLinks healthy_links(const ParallelLinks& wanted, const End& from, const End& to,
                                            const LinksDown& down) const;
  [[nodiscard]] std::optional<ParallelLinks> healthy_core_links(const ParallelLinks& wanted, const End& from,
                                                                const End& to, const LinksDown& down) const;
  void between_leaves(const RouteQuery& query, const End& from, const End& to, PathBuilder& builder) const;
  void add_paths(std::span<const ParallelLinks> paths, const End& from, const End& to, PathBuilder& builder) const;
  void add_all_paths(const End& from, const End& to, bool first_of_twins, PathBuilder& builder) const;
  void pair_twins();
  class HealthyPaths;
  [[nodiscard]] bool add_healthy_paths(const End& from, const End& to, const LinksDown& down,
                                       PathBuilder& builder) const;

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
