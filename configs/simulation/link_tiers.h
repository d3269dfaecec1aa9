// How busy the links of each tier of a cluster were in a run.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "configs/simulation/simulation.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// The classes of LinkTier::by_use: a class holds shares from its edge up to the next. Averages over a run are small, so
// the first classes are narrow.
inline constexpr std::array<double, kUseBins + 1> kUseEdges = {0.0, 0.01, 0.02, 0.05, 0.1, 0.2,
                                                               0.3, 0.5,  0.7,  0.9,  1.0};

// Which links of a cluster belong to which tier: a pair of kinds of nodes (GPU - NVSwitch). Links of one class
// carry the same in a folded run, but may belong to several tiers. Counted once, for any number of readings.
class LinkTiers {
 public:
  explicit LinkTiers(const Simulation& simulation);

  // Every tier with a link that carried something, from the GPU outwards. `usage` is by class of links.
  [[nodiscard]] std::vector<LinkTier> read(const std::vector<LinkUsage>& usage, Duration elapsed) const;

 private:
  using Ends = std::pair<NodeKind, NodeKind>;
  struct Members {
    Ends ends;
    std::uint32_t link_class = 0;
    std::uint64_t links = 0;
  };

  std::span<const Bandwidth> capacities_;
  std::vector<Members> members_;  // by class; classes with links of several tiers have more rows at the end
};

}  // namespace ringwright::configs
