// Rings of optical circuits: which hosts they join, how far others are, and what a file may ask for.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network_models/cluster_text.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::patch_panel_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

LoadedCluster cluster_of(int nodes, const std::string& fabric) {
  return load_cluster("nodes: " + std::to_string(nodes) +
                      "\nnode: {preset: dgx-h100, gpus: 1, nic: {count: 1}, pcie: {switches: 1}}\n"
                      "fabric: {type: patch_panel, " + fabric + "}\n");
}

// By stride: the hosts that a ring visits, starting with host 0.
std::set<std::size_t> visited(const Network& network, std::size_t hosts, std::size_t stride) {
  std::set<std::size_t> seen;
  for (std::size_t host = 0; seen.insert(host).second; host = (host + stride) % hosts) {
    // One circuit to the next host of the ring.
    std::size_t circuits = 0;
    for (const Hop& hop : hops_of(network, between(host, (host + stride) % hosts))) {
      const LinkSpec& link = network.fabric.link(hop.link);
      const bool is_circuit = network.fabric.node(link.from).kind == NodeKind::kSwitch &&
                              network.fabric.node(link.to).kind == NodeKind::kSwitch;
      if (is_circuit) ++circuits;
    }
    EXPECT_EQ(circuits, 1U) << host << " + " << stride;
  }
  return seen;
}

// TotientPerms: with a stride coprime with n a ring visits all hosts. 12: 1, 5, 7, 11 as in TopoOpt's testbed.
TEST(PatchPanel, EveryRingVisitsAllHosts) {
  for (const auto& [hosts, strides] : {std::pair<std::size_t, std::vector<std::size_t>>{12, {1, 5, 7, 11}},
                                       std::pair<std::size_t, std::vector<std::size_t>>{16, {1, 3, 5, 7}}}) {
    const LoadedCluster cluster = cluster_of(static_cast<int>(hosts), "degree: 4");
    ASSERT_THAT(cluster.problems, IsEmpty());
    const Network network = cluster.topology->build();
    for (const std::size_t stride : strides) EXPECT_EQ(visited(network, hosts, stride).size(), hosts);
  }
}

TEST(PatchPanel, MoreRingsBringHostsCloser) {
  const auto longest = [](const std::string& fabric) {
    const LoadedCluster cluster = cluster_of(16, fabric);
    EXPECT_THAT(cluster.problems, IsEmpty());
    const Network network = cluster.topology->build();
    std::size_t most = 0;
    for (std::size_t to = 1; to < 16; ++to) most = std::max(most, hops_of(network, between(0, to)).size());
    return most;
  };
  const std::size_t one = longest("degree: 1");
  EXPECT_EQ(one - longest("rings: [1, 7]"), 15U - 5U) << "15 circuits, and 5 (7 + 7 + 7 + 7 + 1 = 29)";
}

TEST(PatchPanel, SaysWhatIsWrong) {
  EXPECT_THAT(cluster_of(12, "rings: [1, 4]").problems, Contains(HasSubstr("stride 4 shares a factor")));
  EXPECT_THAT(cluster_of(12, "rings: [13]").problems, Contains(HasSubstr("is not below them")));
  EXPECT_THAT(cluster_of(12, "rings: [1, 5], degree: 3").problems, Contains(HasSubstr("has 2 entries")));
}

}  // namespace
}  // namespace ringwright::network_models::patch_panel_test
