#include "collectives/astra/trees.h"

namespace ringwright::collectives {

std::vector<TreeRole> astra_tree(std::uint32_t nodes, AstraTreeRoot root) {
  std::vector<TreeRole> roles(nodes);
  if (nodes < 2) return roles;
  // Inner nodes of a full tree over 1..n-1, numbered in order: those with k trailing zeros have height k.
  const std::uint32_t shift = root == AstraTreeRoot::kLowest ? 0 : 1;  // over 0..n-2 when the last one is the root
  for (std::uint32_t number = 1; number < nodes; ++number) {
    TreeRole& role = roles[number - shift];
    const std::uint32_t lowest = number & (~number + 1);  // the lowest bit that is set
    const std::uint32_t parent = (number - lowest) | (lowest << 1U);
    if (lowest * 2 == nodes) {
      role.parent = root == AstraTreeRoot::kLowest ? 0 : nodes - 1;
    } else {
      role.parent = parent - shift;
    }
    if (lowest > 1) {
      role.left = number - lowest / 2 - shift;
      role.right = number + lowest / 2 - shift;
    }
  }
  const std::uint32_t top = nodes / 2 - shift;
  if (root == AstraTreeRoot::kLowest) {
    roles.front().right = top;
  } else {
    roles.back().left = top;
  }
  return roles;
}

}  // namespace ringwright::collectives
