// The table of topologies: the values of `cluster.fabric.type`.
#include <array>

#include "network_models/builtin.h"

namespace ringwright::network_models {

using ReadTopology = std::unique_ptr<Topology>(ConfigMap& fabric, const TopologyRequest& request);
ReadTopology read_dimensions, read_dragonfly, read_dragonfly_plus, read_fat_tree, read_graph, read_patch_panel,
    read_rail_only, read_rail_optimized, read_single_node, read_torus;

namespace {

constexpr std::array kTopologies = {
    TopologyEntry{"astra", "rings, switches and fully connected groups of GPUs, as in ASTRA-sim's network.yml",
                  &read_dimensions},
    TopologyEntry{"clos", "another name for fat_tree", &read_fat_tree},
    TopologyEntry{"dragonfly", "groups of fully connected switches; links between all groups", &read_dragonfly},
    TopologyEntry{"dragonfly_plus", "groups of leaves and spines; spines connect the groups", &read_dragonfly_plus},
    TopologyEntry{"fat_tree", "leaf, spine and core switches; all NICs of a node on one leaf", &read_fat_tree},
    TopologyEntry{"graph", "nodes and links listed in a file", &read_graph},
    TopologyEntry{"none", "another name for single_node", &read_single_node},
    TopologyEntry{"patch_panel", "optical circuits join nodes directly into rings of several strides (TopoOpt)",
                  &read_patch_panel},
    TopologyEntry{"rail_only", "one network per rail; rails connect over NVLink inside a node", &read_rail_only},
    TopologyEntry{"rail_optimized", "a leaf per rail and scalable unit; spines connect all leaves",
                  &read_rail_optimized},
    TopologyEntry{"single_node", "one node, no network", &read_single_node},
    TopologyEntry{"torus", "nodes on a ring, a grid or a cube, connected to their neighbours", &read_torus},
};

}  // namespace

std::span<const TopologyEntry> topologies() {
  return kTopologies;
}

}  // namespace ringwright::network_models
