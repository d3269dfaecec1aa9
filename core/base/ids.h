// Strong id types: a rank is not a node, a link is not a task.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ringwright {

template <class Tag>
struct Id {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t number) : value(number) {}
  constexpr explicit Id(std::size_t number) : value(static_cast<std::uint32_t>(number)) {}
  constexpr explicit Id(int number) : value(static_cast<std::uint32_t>(number)) {}

  [[nodiscard]] constexpr std::size_t index() const { return value; }
  [[nodiscard]] constexpr bool valid() const { return *this != Id(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using RankId = Id<struct RankTag>;            // a process of the job
using NodeId = Id<struct NodeTag>;            // a vertex of the fabric: endpoint or switch
using LinkId = Id<struct LinkTag>;            // one direction between two nodes
using ProgramId = Id<struct ProgramTag>;      // what one role of the job executes
using TaskId = Id<struct TaskTag>;            // a task's index within its program
using DimensionId = Id<struct DimensionTag>;  // a parallel dimension: tp, dp, pp, ...
using GroupId = Id<struct GroupTag>;          // one group of a dimension
using ClassId = Id<struct ClassTag>;          // ranks with identical behaviour

}  // namespace ringwright
