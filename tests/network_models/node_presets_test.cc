// Every shipped node preset, built: its counts and the sums of its links against the vendors' figures.
#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "core/fabric/graph_analysis.h"
#include "network_models/host/host_block.h"
#include "tests/network_models/cluster_text.h"
#include "tests/network_models/path_checks.h"
#include "tests/paths.h"

namespace ringwright::network_models::node_presets_test {
namespace {

using testing::IsEmpty;

struct Expected {
  std::size_t gpus;
  std::size_t nics;
  double gpu_out;  // scale-up bandwidth out of one GPU, GB/s; 0: PCIe only
  double nic_out;  // of all NICs, GB/s
  bool reduces;
};

// Vendors' figures, per direction: DGX-1 6 * 25; DGX A100 12 * 25; H100 and H200 18 * 25; B200 18 * 50; MI300X 7 * 64;
// H800 8 * 25; DGX-2 6 * 25. MI325X as MI300X, MI355X 7 * 76.8; boards of four GPUs as the eight-GPU ones.
// Bridges of H100 cards 12 * 25, of H200 NVL 18 * 25.
const std::map<std::string, Expected>& expected() {
  static const std::map<std::string, Expected> table = {
      {"a100-x4", {4, 2, 300, 50, false}},        {"gh200-x4", {4, 4, 450, 100, false}},
      {"v100-x4", {4, 2, 150, 25, false}},        {"mi325x-8gpu", {8, 8, 448, 400, false}},
      {"mi355x-8gpu", {8, 8, 537.6, 400, false}}, {"a100-pcie", {4, 2, 0, 50, false}},
      {"l40s-pcie", {4, 2, 0, 100, false}},       {"dgx-a100", {8, 8, 300, 200, false}},
      {"dgx-b200", {8, 8, 900, 400, true}},       {"dgx-h100", {8, 8, 450, 400, true}},
      {"dgx1-v100", {8, 4, 150, 50, false}},      {"gb200-nvl72", {72, 72, 900, 3600, true}},
      {"gb300-nvl72", {72, 72, 900, 7200, true}},
      {"hgx-h200", {8, 8, 450, 400, true}},       {"mi300x-8gpu", {8, 8, 448, 400, false}},
      {"dgx2-v100", {16, 8, 150, 100, false}},    {"hgx-h800", {8, 8, 200, 400, true}},
      {"hgx-h100-x4", {4, 4, 450, 100, false}},   {"consumer-rtx-3080", {1, 1, 0, 0.125, false}},
      {"h100-pcie", {4, 2, 300, 100, false}},     {"h100-nvl", {8, 2, 300, 100, false}},
      {"h200-nvl", {4, 2, 450, 100, false}},      {"a10-pcie", {4, 1, 0, 12.5, false}},
      {"hgx-a800", {8, 8, 200, 200, false}},      {"hgx-h20", {8, 8, 450, 400, true}},
  };
  return table;
}

// Two nodes, so that the NICs have a peer.
LoadedCluster load_preset(const std::string& name, const std::string& more = "") {
  return load_cluster("nodes: 2\nnode: {preset: " + name + more + "}\nfabric: {type: fat_tree, leaf: {ports: 1024}}\n");
}

class NodePreset : public testing::TestWithParam<std::string> {};

TEST_P(NodePreset, LoadsWithoutAssumptions) {
  const auto cluster = load_preset(GetParam());
  EXPECT_THAT(cluster.problems, IsEmpty());
  for (const std::string& path : cluster.assumptions) EXPECT_TRUE(path.starts_with("fabric.")) << path;
}

TEST_P(NodePreset, HasTheVendorsBandwidths) {
  const auto cluster = load_preset(GetParam(), ", nvlink: {efficiency: 100%}, nic: {efficiency: 100%}");
  const Expected want = expected().at(GetParam());
  const Network network = cluster.topology->build();
  std::size_t gpus = 0;
  std::size_t nics = 0;
  double scale_up = 0.0;
  double nic_out = 0.0;
  for (const NodeCount& count : count_nodes(network.fabric)) {
    if (count.kind == NodeKind::kGpu) gpus = count.count;
    if (count.kind == NodeKind::kNic) nics = count.count;
  }
  EXPECT_EQ(gpus, 2 * want.gpus);
  EXPECT_EQ(nics, 2 * want.nics);
  for (std::size_t i = 0; i < network.fabric.link_count(); ++i) {
    const LinkSpec& link = network.fabric.link(LinkId(i));
    const NodeKind to = network.fabric.node(link.to).kind;
    if (link.from == network.fabric.gpus()[0] && (to == NodeKind::kNvSwitch || to == NodeKind::kGpu)) {
      scale_up += link.bandwidth.count() / 1e9;
    }
    if (network.fabric.node(link.from).kind == NodeKind::kNic && to == NodeKind::kLeaf) {
      nic_out += link.bandwidth.count() / 1e9;
    }
  }
  EXPECT_DOUBLE_EQ(scale_up, want.gpu_out);
  EXPECT_DOUBLE_EQ(nic_out, 2 * want.nic_out);
  EXPECT_EQ(cluster.host.nvlink.reduces, want.reduces);
}

TEST_P(NodePreset, HasAPathBetweenAnyTwoGpus) {
  const Network network = load_preset(GetParam()).topology->build();
  EXPECT_EQ(first_broken_path(network), "");
  EXPECT_EQ(check_connectivity(network.fabric).unreachable_pairs, 0U);
}

std::vector<std::string> shipped_nodes() {
  return preset_names({.share_folders = {ringwright::share_dir()}}, "nodes");
}

INSTANTIATE_TEST_SUITE_P(Shipped, NodePreset, testing::ValuesIn(shipped_nodes()), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(NodePresets, AreAllExpectedHere) {
  for (const std::string& name : shipped_nodes()) EXPECT_TRUE(expected().contains(name)) << name;
  EXPECT_EQ(shipped_nodes().size(), expected().size());
}

TEST(NodePresets, HaveSixLanesOnEveryGpuOfTheCubeMesh) {
  const auto cluster = load_preset("dgx1-v100");
  std::map<int, int> lanes;
  for (const MeshLink& link : cluster.host.nvlink.mesh) {
    lanes[link.a] += link.lanes;
    lanes[link.b] += link.lanes;
  }
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(lanes[gpu], 6) << gpu;
}

}  // namespace
}  // namespace ringwright::network_models::node_presets_test
