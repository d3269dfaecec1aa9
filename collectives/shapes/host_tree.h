// The two binary trees over hosts of which every host is a leaf in at least one: NCCL's double binary tree.
//
// Tree 0 is the in-order binary tree on 0..N-1 with root 0: a host whose lowest set bit is b has the parent with b
// cleared and 2 b set (only cleared when that is out of range). Tree 1 is its mirror image for even N and is shifted by
// one for odd N. Idea: Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 2009. With odd N host 0 has one child in each tree; all others are inner in at most one.
#pragma once

#include <array>

namespace ringwright::collectives {

struct TreeNode {
  int parent = -1;
  std::array<int, 2> children = {-1, -1};
  int depth = 0;  // the root's is 0
};

struct TreeQuery {
  int hosts = 1;
  int tree = 0;  // 0 or 1
  int host = 0;
};

[[nodiscard]] TreeNode tree_node(const TreeQuery& query);
[[nodiscard]] int tree_root(int hosts, int tree);
// With an even number of hosts one tree is the other's mirror image: a host of one half and its mirror image get the
// same tree numbers, so that both have visibly the same role. Otherwise `tree`.
[[nodiscard]] int mirrored_tree(const TreeQuery& query);
// The greatest depth: log2 of the number of hosts, rounded up.
[[nodiscard]] int tree_height(int hosts);

}  // namespace ringwright::collectives
