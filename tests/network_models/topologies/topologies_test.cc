// Topologies as users write them: from YAML to a network, and error messages.
#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/fabric/graph_analysis.h"
#include "network_models/error_codes.h"
#include "tests/network_models/cluster_text.h"
#include "tests/network_models/path_checks.h"
#include "tests/paths.h"

namespace ringwright::network_models::topologies_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::size_t nodes_of(const Network& network, NodeKind kind) {
  for (const NodeCount& count : count_nodes(network.fabric)) {
    if (count.kind == kind) return count.count;
  }
  return 0;
}

TEST(Topologies, AreSortedAndNamedOnce) {
  const auto table = topologies();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  EXPECT_EQ(std::adjacent_find(table.begin(), table.end(), [](auto& a, auto& b) { return a.name == b.name; }),
            table.end());
}

TEST(Topologies, DocumentTheirKeysWithoutAFile) {
  for (const TopologyEntry& entry : topologies()) {
    ConfigDocument document = ConfigDocument::for_documentation();
    ConfigMap root = document.root();
    ConfigMap node = root.map("node", "");
    const Host host = read_host(node);
    ConfigMap fabric = root.map("fabric", "");
    EXPECT_NE(entry.read(fabric, {.host = host, .hosts = 4}), nullptr) << entry.name;
    EXPECT_THAT(document.log().diagnostics().all(), IsEmpty()) << entry.name;
  }
}

TEST(RailOptimized, ReadsThePublishedFormOf16384Gpus) {
  const auto cluster = load_cluster(
      "nodes: 2048\n"
      "node: {preset: dgx-h100}\n"
      "fabric:\n"
      "  type: rail_optimized\n"
      "  rails: 8\n"
      "  scalable_unit: 32\n"
      "  leaf: {ports: 64, speed: 400Gbps, oversubscription: \"1:1\"}\n"
      "  spine: {ports: 64, speed: 400Gbps}\n"
      "  core: {oversubscription: \"1:1\"}\n"
      "  latency: {nic: 1.0us, hop: 0.35us, cable: 100ns}\n"
      "  routing: {policy: ecmp, hash_seed: 1}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  EXPECT_THAT(cluster.assumptions, IsEmpty());
  const Network network = cluster.topology->build();
  EXPECT_EQ(network.fabric.gpus().size(), 16384U);
  EXPECT_EQ(nodes_of(network, NodeKind::kLeaf), 512U);
  EXPECT_EQ(nodes_of(network, NodeKind::kSpine), 512U);
  EXPECT_EQ(nodes_of(network, NodeKind::kCore), 256U);
  std::vector<Hop> hops;
  // 4 PCIe hops of 150 ns, 2 NICs, 5 switches, 6 cables.
  EXPECT_EQ(network.router->route(between(0, 16383), hops), Duration((4 * 150 + 2 * 1000 + 5 * 350 + 6 * 100) * 1000));
  EXPECT_EQ(path_error(network, 5, 16000), "");
}

TEST(RailOptimized, ThinsUplinksByTheRatioAsked) {
  const auto cluster = load_cluster(
      "nodes: 64\nnode: {preset: dgx-h100}\n"
      "fabric: {type: rail_optimized, scalable_unit: 32, leaf: {oversubscription: \"4:1\"}}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  // 32 hosts a side with 8 NICs of 50 GB/s, a quarter of it passes.
  EXPECT_DOUBLE_EQ(bisection_bandwidth(network.fabric, 8).count(), 32 * 8 * 50e9 / 4);
}

TEST(RailOptimized, ReportsWhichPortsAreTooFewAndWhere) {
  const auto cluster = load_cluster(
      "nodes: 128\n"
      "node: {preset: dgx-h100}\n"
      "fabric:\n"
      "  type: rail_optimized\n"
      "  scalable_unit: 48\n"
      "  leaf: {ports: 64}\n");
  EXPECT_THAT(
      cluster.problems,
      ElementsAre("6:17 E120 'leaf.ports' is 64 but 'scalable_unit' 48 with 1 NICs of each node on a leaf needs 48 "
                  "ports down and 48 up at 1:1"));
}

TEST(RailOptimized, WarnsAboutRatiosThatAreBuiltOtherwise) {
  const auto cluster = load_cluster(
      "nodes: 64\nnode: {preset: dgx-h100}\n"
      "fabric: {type: rail_optimized, scalable_unit: 32, leaf: {oversubscription: \"7:1\"}}\n");
  ASSERT_EQ(cluster.problems.size(), 1U);
  EXPECT_THAT(cluster.problems[0], HasSubstr("7:1 of 32 downlinks is not a whole number of uplinks; built with 5"));
}

TEST(RailOptimized, RejectsUnknownKeysAndPolicies) {
  const auto cluster = load_cluster(
      "nodes: 4\nnode: {preset: dgx-h100}\n"
      "fabric: {type: rail_optimized, railz: 8, routing: {policy: ecpm}}\n");
  ASSERT_EQ(cluster.problems.size(), 2U);
  EXPECT_THAT(cluster.problems[0] + cluster.problems[1], HasSubstr("ecpm"));
  EXPECT_THAT(cluster.problems[0] + cluster.problems[1], HasSubstr("railz"));
}

// NCCL's PXN: inside the host to the GPU on the receiver's rail, then along that rail without a spine.
TEST(RailOptimized, LeavesByTheReceiversRailWhereASenderAsks) {
  const auto cluster =
      load_cluster("nodes: 8\nnode: {preset: dgx-h100}\nfabric: {type: rail_optimized, scalable_unit: 4}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  EXPECT_THAT(trace(network, between(0, 11)), HasSubstr("spine"));
  const std::string relayed = trace(network, between(0, 11, RouteKind::kPxn));
  EXPECT_THAT(relayed, HasSubstr("host0/gpu0 host0/nvswitch0 host0/gpu3"));
  EXPECT_THAT(relayed, HasSubstr("host0/nic3 leaf0.3 host1/nic3"));
  EXPECT_EQ(trace(network, between(0, 8, RouteKind::kPxn)), trace(network, between(0, 8)));
}

// As NCCL's channels do: in and out by one NIC, which the last GPU reaches over NVLink or over PCIe.
TEST(RailOptimized, TakesTheNicsThatAMessageNames) {
  const auto cluster =
      load_cluster("nodes: 8\nnode: {preset: dgx-h100}\nfabric: {type: rail_optimized, scalable_unit: 4}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  RouteQuery query = between(7, 8);
  query.nics = {.out = 0, .in = 0, .relay = 0};
  const std::string relayed = trace(network, query);
  EXPECT_THAT(relayed, HasSubstr("host0/gpu7 host0/nvswitch0 host0/gpu0"));
  EXPECT_THAT(relayed, HasSubstr("host0/nic0 leaf0.0 host1/nic0"));
  query.nics.relay = -1;
  const std::string over_pcie = trace(network, query);
  EXPECT_THAT(over_pcie, Not(HasSubstr("nvswitch")));
  EXPECT_THAT(over_pcie, HasSubstr("host0/nic0 leaf0.0 host1/nic0"));
  query.nics = {.out = 7, .in = 3};  // enters by a NIC that is not the receiver's own
  EXPECT_THAT(trace(network, query), HasSubstr("host1/nic3"));
  query.nics = {.out = 8, .in = 8};  // there are none
  EXPECT_EQ(trace(network, query), trace(network, between(7, 8)));
}

TEST(FatTree, GoesByBothItsNames) {
  for (const std::string type : {"fat_tree", "clos"}) {
    const auto cluster =
        load_cluster("nodes: 16\nnode: {preset: dgx-a100, nic: {efficiency: 100%}}\nfabric: {type: " + type +
                     ", leaf: {ports: 40}}\n");
    ASSERT_THAT(cluster.problems, IsEmpty());
    const Network network = cluster.topology->build();
    EXPECT_EQ(nodes_of(network, NodeKind::kLeaf), 8U);  // 20 NICs on a leaf are 2 hosts of 8
    EXPECT_DOUBLE_EQ(bisection_bandwidth(network.fabric, 8).count(), 8 * 8 * 25e9);
  }
}

// One scenario, tried as three types by `--set cluster.fabric.type=...`.
TEST(Topologies, PassOverTheKeysOfTheirSiblings) {
  const auto with_type = [](const std::string& type) {
    return load_cluster("nodes: 8\nnode: {preset: dgx-h100}\nfabric: {type: " + type +
                        ", rails: 8, scalable_unit: 4, tiers: 2, core: {oversubscription: \"1:1\"}}\n")
        .problems;
  };
  EXPECT_THAT(with_type("rail_optimized"), IsEmpty());
  EXPECT_THAT(with_type("fat_tree"), ElementsAre(HasSubstr("E121 'fabric.rails' has no effect on the type fat_tree")));
  EXPECT_THAT(with_type("rail_only"),
              ElementsAre(HasSubstr("E121 'fabric.tiers' has no effect on the type rail_only")));
}

// Faster NICs change nothing behind slow ports of switches, which is said.
TEST(Topologies, NameLeafPortsThatAreSlowerThanNics) {
  const auto with = [](const std::string& nic, const std::string& speed) {
    return load_cluster("nodes: 8\nnode: {preset: dgx-h100, nic: {bandwidth: " + nic +
                        "}}\nfabric: {type: rail_optimized, scalable_unit: 4, leaf: {speed: " + speed + "}}\n")
        .problems;
  };
  EXPECT_THAT(with("800Gbps", "400Gbps"),
              ElementsAre(HasSubstr("E121 'fabric.leaf.speed' is 50 GB/s and a port of a NIC has 100 GB/s")));
  EXPECT_THAT(with("400Gbps", "400Gbps"), IsEmpty());
  EXPECT_THAT(with("400Gbps", "800Gbps"), IsEmpty());  // its ports are split
  EXPECT_THAT(with("-400Gbps", "400Gbps"), ElementsAre(HasSubstr("E106")));  // nothing follows from a mistake
}

TEST(RailOnly, JoinsNoRails) {
  const auto cluster =
      load_cluster("nodes: 8\nnode: {preset: dgx-h100}\nfabric: {type: rail_only, scalable_unit: 4}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  EXPECT_EQ(first_broken_path(network), "");
  EXPECT_EQ(nodes_of(network, NodeKind::kCore), 0U);
  // GPU 0 of host 0 to GPU 3 of host 7: over NVLink to GPU 3, then along rail 3.
  EXPECT_THAT(trace(network, between(0, 59)), HasSubstr("host0/gpu0 host0/nvswitch0 host0/gpu3"));
  EXPECT_THAT(trace(network, between(0, 59)), HasSubstr("leaf1.3 host7/nic3"));
}

TEST(SingleNode, HoldsOneNodeOnly) {
  const auto one = load_cluster("node: {preset: dgx-h100}\nfabric: {type: single_node}\n");
  ASSERT_THAT(one.problems, IsEmpty());
  EXPECT_EQ(first_broken_path(one.topology->build()), "");
  const auto two = load_cluster("nodes: 2\nnode: {preset: dgx-h100}\nfabric: {type: none}\n");
  EXPECT_THAT(two.problems, ElementsAre("3:16 E120 'cluster.nodes' is 2 but a fabric of this type holds one node"));
}

TEST(Torus, ReadsItsSides) {
  const auto cluster = load_cluster("nodes: 12\nnode: {preset: dgx-h100}\nfabric: {type: torus, dims: [3, 2, 2]}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  EXPECT_EQ(nodes_of(cluster.topology->build(), NodeKind::kSwitch), 12U);
  EXPECT_THAT(load_cluster("nodes: 12\nnode: {preset: dgx-h100}\nfabric: {type: torus, dims: [3, 3]}\n").problems,
              ElementsAre("3:29 E120 the sides of 'fabric.dims' multiply to 9 but 'cluster.nodes' is 12"));
  EXPECT_THAT(load_cluster("nodes: 16\nnode: {preset: dgx-h100}\nfabric: {type: torus, dims: [2, 2, 2, 2]}\n").problems,
              ElementsAre("3:29 E120 'fabric.dims' has 4 entries but a torus has 1 to 3 dimensions"));
}

class GraphTopology : public testing::Test {
 protected:
  static LoadedCluster load(const std::string& file, int hosts = 2) {
    return load_cluster(
        "nodes: " + std::to_string(hosts) + "\nnode: {gpus: 1}\nfabric: {type: graph, file: " + file + "}\n",
        ringwright::test_data() + "/network_models/cluster.yaml");
  }
};

TEST_F(GraphTopology, FindsItsFileNextToTheConfiguration) {
  const auto cluster = load("graphs/pair.csv");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  EXPECT_EQ(trace(network, between(0, 1)), "gpu0 tor gpu1");
  EXPECT_EQ(first_broken_path(network), "");
}

TEST_F(GraphTopology, ReadsTheSameNetworkFromYaml) {
  const auto cluster = load("graphs/pair.yaml");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  EXPECT_EQ(trace(network, between(0, 1)), "gpu0 tor gpu1");
  EXPECT_EQ(first_broken_path(network), "");
}

TEST_F(GraphTopology, PassesOnTheMistakesOfTheFile) {
  const auto cluster = load("graphs/broken.csv");
  ASSERT_EQ(cluster.problems.size(), 1U);
  EXPECT_THAT(cluster.problems[0], HasSubstr("graphs/broken.csv:3:11: node 'gpu2' is not defined above"));
  const auto yaml = load("graphs/broken.yaml");
  ASSERT_EQ(yaml.problems.size(), 1U);
  EXPECT_THAT(yaml.problems[0], HasSubstr("graphs/broken.yaml:5:22: node 'gpu2' is not in the list of nodes"));
}

TEST_F(GraphTopology, WantsAsManyGpusAsTheClusterHas) {
  EXPECT_THAT(load("graphs/pair.csv", 3).problems,
              ElementsAre("3:29 E123 the file has 2 GPUs but 'cluster.nodes' 3 with 1 each makes 3"));
}

TEST_F(GraphTopology, RequiresAPathBetweenAllGpus) {
  EXPECT_THAT(load("graphs/apart.csv").problems, ElementsAre("3:29 E123 there is no path from gpu0 to gpu1"));
}

TEST(NetworkErrorCodes, AreOrderedAndExplained) {
  const auto codes = network_error_codes();
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end(), [](auto& a, auto& b) { return a.code < b.code; }));
  for (const ErrorCode& code : codes) {
    EXPECT_TRUE(code.code >= "E120" && code.code <= "E129") << code.code;
    EXPECT_FALSE(code.explanation.empty());
    EXPECT_FALSE(code.example.empty());
  }
}

}  // namespace
}  // namespace ringwright::network_models::topologies_test
