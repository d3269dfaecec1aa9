// The two trees over hosts are trees, balanced, and share no inner host.
#include "collectives/shapes/host_tree.h"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

namespace ringwright::collectives::host_tree_test {
namespace {

bool is_inner(const TreeNode& node) { return node.children[0] >= 0 || node.children[1] >= 0; }

TEST(HostTree, ParentsAndChildrenAgreeAndLeadToTheRoot) {
  for (int hosts = 1; hosts <= 130; ++hosts) {
    for (const int tree : {0, 1}) {
      int edges = 0;
      for (int host = 0; host < hosts; ++host) {
        const TreeNode node = tree_node({.hosts = hosts, .tree = tree, .host = host});
        EXPECT_EQ(node.parent < 0, host == tree_root(hosts, tree));
        for (const int child : node.children) {
          if (child < 0) continue;
          const TreeNode below = tree_node({.hosts = hosts, .tree = tree, .host = child});
          EXPECT_EQ(below.parent, host);
          EXPECT_EQ(below.depth, node.depth + 1);
          ++edges;
        }
      }
      EXPECT_EQ(edges, hosts - 1) << hosts << " hosts, tree " << tree;
    }
  }
}

TEST(HostTree, HeightIsTheLogarithmRoundedUp) {
  for (int hosts = 1; hosts <= 130; ++hosts) {
    for (const int tree : {0, 1}) {
      int deepest = 0;
      for (int host = 0; host < hosts; ++host) {
        deepest = std::max(deepest, tree_node({.hosts = hosts, .tree = tree, .host = host}).depth);
      }
      EXPECT_EQ(deepest, tree_height(hosts)) << hosts;
    }
  }
  EXPECT_EQ(tree_height(1), 0);
  EXPECT_EQ(tree_height(2), 1);
  EXPECT_EQ(tree_height(5), 3);
  EXPECT_EQ(tree_height(1'024), 10);
}

TEST(HostTree, NoHostIsInnerInBothTreesButHostZeroOfAnOddNumber) {
  for (int hosts = 2; hosts <= 130; ++hosts) {
    for (int host = 0; host < hosts; ++host) {
      const TreeNode first = tree_node({.hosts = hosts, .tree = 0, .host = host});
      const TreeNode second = tree_node({.hosts = hosts, .tree = 1, .host = host});
      if (!is_inner(first) || !is_inner(second)) continue;
      EXPECT_EQ(hosts % 2, 1) << hosts;
      EXPECT_EQ(host, 0);
      EXPECT_EQ(first.children[1], -1);
      EXPECT_EQ(second.children[1], -1);
    }
  }
}

// Drawn by hand from the rule in the header: 0 - 4 - {2 - {1, 3}, 6 - {5, 7}}.
TEST(HostTree, OfEightHostsIsTheOneDrawnByHand) {
  const auto parent = [](int tree, int host) { return tree_node({.hosts = 8, .tree = tree, .host = host}).parent; };
  EXPECT_EQ(parent(0, 4), 0);
  EXPECT_EQ(parent(0, 2), 4);
  EXPECT_EQ(parent(0, 6), 4);
  EXPECT_EQ(parent(0, 1), 2);
  EXPECT_EQ(parent(0, 7), 6);
  EXPECT_EQ(parent(1, 7), -1);  // the mirror image
  EXPECT_EQ(parent(1, 3), 7);
  EXPECT_EQ(parent(1, 0), 1);
}

// Hosts r and N - 1 - r: the role of one in a tree is that of the other in the other tree.
TEST(HostTree, MirroredTreesOfMirroredHostsAreEqual) {
  constexpr int kHosts = 12;
  for (int host = 0; host < kHosts; ++host) {
    for (int tree = 0; tree < 2; ++tree) {
      const TreeQuery here{.hosts = kHosts, .tree = tree, .host = host};
      const TreeQuery there{.hosts = kHosts, .tree = 1 - tree, .host = kHosts - 1 - host};
      EXPECT_EQ(mirrored_tree(here), mirrored_tree(there));
      EXPECT_EQ(tree_node(here).depth, tree_node(there).depth);
    }
    EXPECT_NE(mirrored_tree({.hosts = kHosts, .tree = 0, .host = host}),
              mirrored_tree({.hosts = kHosts, .tree = 1, .host = host}));
  }
  EXPECT_EQ(mirrored_tree({.hosts = 7, .tree = 1, .host = 6}), 1);  // an odd number has no mirror image
}

}  // namespace
}  // namespace ringwright::collectives::host_tree_test
