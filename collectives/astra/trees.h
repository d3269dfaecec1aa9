// The two binary trees of ASTRA-sim's double binary tree.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/chunked_collective.h"

namespace ringwright::collectives {

enum class AstraTreeRoot : std::uint8_t { kLowest, kHighest };

// For a power of two of nodes: a root with one child, the root of a full tree of the others, numbered in order from
// left to right. The first node is the root, or the last one.
[[nodiscard]] std::vector<TreeRole> astra_tree(std::uint32_t nodes, AstraTreeRoot root);

}  // namespace ringwright::collectives
