// The ways between two ranks of a network, as a network of these two: rank 0 and rank 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/router.h"

namespace ringwright::configs {

// Knows whole ways, by either rail, and takes those that the router gives for label 0.
class PairRouter final : public Router {
 public:
  PairRouter(const Router& router, RankId first, RankId second);

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

  // Latencies in picoseconds, and by hop the link's number here, the bits of its capacity in bytes a second and of its
  // share. Pairs of which this is equal are alike to everybody who asks for ways.
  [[nodiscard]] std::vector<std::uint64_t> signature() const;

 private:
  struct Path {
    Duration latency;
    std::vector<Hop> hops;
  };
  [[nodiscard]] static std::size_t number_of(const RouteQuery& query);

  std::array<Path, 4> paths_;  // there and back, each directly and by the peer's rail
  std::vector<Bandwidth> capacities_;
};

}  // namespace ringwright::configs
