// The paths between two ranks of a network, as a network of these two: rank 0 and rank 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/router.h"

namespace ringwright::configs {

// Supports whole paths, direct or by PXN, and uses those that the router gives for label 0.
class PairRouter final : public Router {
 public:
  PairRouter(const Router& router, RankId first, RankId second);

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

  // Latencies in picoseconds, and by hop the link's number here, the bits of its capacity in bytes a second and of its
  // share. Pairs with equal signatures are the same to every user of paths.
  [[nodiscard]] std::vector<std::uint64_t> signature() const;

 private:
  struct Path {
    Duration latency;
    std::vector<Hop> hops;
  };
  [[nodiscard]] static std::size_t number_of(const RouteQuery& query);

  std::array<Path, 4> paths_;  // both directions, each directly and by PXN
  std::vector<Bandwidth> capacities_;
};

}  // namespace ringwright::configs
