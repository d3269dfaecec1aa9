// Edges of a footprint by kind: hundreds of millions of edges differ only in their peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/member_pattern.h"

namespace ringwright {

// Numbers distinct kinds of edges in order of first appearance.
class EdgeKinds {
 public:
  std::uint32_t index_of(const EdgeKind& kind);
  [[nodiscard]] std::vector<EdgeKind> take() { return std::move(kinds_); }

 private:
  struct Hash {
    // Roles are random numbers already.
    std::size_t operator()(const EdgeKind& kind) const { return kind.role + kind.label; }
  };
  std::unordered_map<EdgeKind, std::uint32_t, Hash> index_of_;
  std::vector<EdgeKind> kinds_;
};

// A pattern with its edges by kind.
struct KindPattern {
  struct Edge {
    int peer = 0;  // index in the group
    std::uint32_t kind = 0;
  };
  std::vector<std::vector<Edge>> edges;  // by member
  MemberPattern all;                     // without its edges
};

// `together`: the members of the dimension's groups progress together.
[[nodiscard]] KindPattern by_kind(MemberPattern pattern, DimensionId dimension, bool together, EdgeKinds& kinds);

}  // namespace ringwright
