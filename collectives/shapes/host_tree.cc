// Parents, children and depths in the two trees, from the bits of a host's number.
#include "collectives/shapes/host_tree.h"

#include <bit>

#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {
namespace {

int lowest_bit(int number) { return number & -number; }

int parent_of(int hosts, int host) {
  if (host == 0) return -1;
  const int bit = lowest_bit(host);
  const int cleared = host ^ bit;
  const int raised = cleared | (bit << 1);
  return raised < hosts ? raised : cleared;
}

std::array<int, 2> children_of(int hosts, int host) {
  if (host == 0) {
    if (hosts == 1) return {-1, -1};
    return {1 << (tree_height(hosts) - 1), -1};
  }
  const int half = lowest_bit(host) / 2;
  if (half == 0) return {-1, -1};
  int right = half;
  while (right > 0 && host + right >= hosts) right /= 2;
  return {host - half, right > 0 ? host + right : -1};
}

// Converts between a host's number and the tree 0 number with its position in tree 1.
int to_first_tree(int hosts, int host) { return hosts % 2 == 0 ? hosts - 1 - host : wrap(host - 1, hosts); }
int to_second_tree(int hosts, int host) { return hosts % 2 == 0 ? hosts - 1 - host : wrap(host + 1, hosts); }

}  // namespace

TreeNode tree_node(const TreeQuery& query) {
  const int n = query.hosts;
  const int number = query.tree == 0 ? query.host : to_first_tree(n, query.host);
  TreeNode node{.parent = parent_of(n, number), .children = children_of(n, number)};
  for (int above = node.parent; above >= 0; above = parent_of(n, above)) ++node.depth;
  if (query.tree == 0) return node;
  if (node.parent >= 0) node.parent = to_second_tree(n, node.parent);
  for (int& child : node.children) {
    if (child >= 0) child = to_second_tree(n, child);
  }
  return node;
}

int tree_root(int hosts, int tree) { return tree == 0 ? 0 : to_second_tree(hosts, 0); }

int mirrored_tree(const TreeQuery& query) {
  const bool second_half = query.hosts % 2 == 0 && 2 * query.host >= query.hosts;
  return second_half ? 1 - query.tree : query.tree;
}

int tree_height(int hosts) { return static_cast<int>(std::bit_width(static_cast<unsigned>(hosts - 1))); }

}  // namespace ringwright::collectives
