// The types of paths that a host has, between its GPUs and to its network ports: a search need not try others.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "collectives/nccl/topology/topology.h"

namespace ringwright::collectives {

class PathTypes {
 public:
  explicit PathTypes(const NcclTopology& topology);

  // The next worse one up to `most`; empty: there is none.
  [[nodiscard]] std::optional<NcclPath> worse_inside(NcclPath path, NcclPath most) const {
    return next(inside_, path, most);
  }
  [[nodiscard]] std::optional<NcclPath> worse_between(NcclPath path, NcclPath most) const {
    return next(between_, path, most);
  }

 private:
  using Has = std::array<bool, static_cast<std::size_t>(NcclPath::kNone) + 1>;
  [[nodiscard]] static std::optional<NcclPath> next(const Has& has, NcclPath path, NcclPath most);

  Has inside_{};
  Has between_{};
};

}  // namespace ringwright::collectives
