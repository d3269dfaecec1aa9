#include "network_models/key_effects.h"

#include <array>

namespace ringwright::network_models {
namespace {

constexpr std::string_view kHopsOfChunks =
    "'collectives.model: chunks' takes the latency of a hop inside a host from comm.costs (hop of each protocol)";
constexpr std::string_view kOnePath =
    "'collectives.model: closed_form' uses the path of one pair; only messages share links";
constexpr KeyEffect on_one_path(std::string_view key) {
  return {.keys = key, .needs = "collectives.model!=closed_form", .why = kOnePath, .partly = true};
}
constexpr std::string_view kInLinks =
    "simulate.network!=astra_unaware & simulate.network!=astra_aware | cluster.fabric.type=astra";
constexpr std::string_view kSeenInDimensions =
    "ASTRA-sim's dimensions have the narrowest link and the latency of the longest path between GPUs of a host, and "
    "between hosts; routing, ratios and links that paths share are not seen";
constexpr KeyEffect seen_in_dimensions(std::string_view key) {
  return {.keys = key, .needs = kInLinks, .why = kSeenInDimensions, .partly = true};
}
constexpr std::string_view kListedLinks =
    "the links of GPUs are the 'dimensions' of 'cluster.fabric'; those of the node matter to the choice of algorithms";
constexpr KeyEffect in_listed_links(std::string_view key) {
  return {.keys = key, .needs = "cluster.fabric.type!=astra", .why = kListedLinks, .partly = true};
}
constexpr KeyEffect over_nics(std::string_view key) {
  return {.keys = key,
          .needs = "simulate.network!=astra_unaware & simulate.network!=astra_aware & cluster.fabric.type!=astra",
          .why = "ASTRA-sim's dimensions join GPUs without NICs: it matters only to NCCL's search and choice",
          .partly = true};
}
constexpr std::string_view kInSwitches =
    "cluster.nodes>1 & comm.env.NCCL_COLLNET_ENABLE=1 | comm.plan.algorithm=collnet_direct | "
    "comm.plan.algorithm=collnet_chain";

}  // namespace

std::span<const KeyEffect> network_key_effects() {
  static constexpr std::array kEffects = {
      KeyEffect{"cluster.node.nvlink.latency", "collectives.model!=chunks", kHopsOfChunks},
      KeyEffect{"cluster.node.pcie.socket_latency", "collectives.model!=chunks", kHopsOfChunks},
      KeyEffect{"cluster.node.nic.*", "cluster.nodes>1", "there is one host: no traffic leaves it"},
      KeyEffect{"cluster.node.pcie.*",
                "cluster.nodes>1 | cluster.node.nvlink.kind!=nvswitch | job.offloads=yes | job.saves=yes",
                "one host, whose GPUs connect over NVLink, and nothing is offloaded or saved: no bytes cross PCIe"},
      KeyEffect{"cluster.node.memory.*", "job.offloads=yes | job.saves=yes | cluster.nodes>1 & cluster.gpudirect=no",
                "nothing is offloaded to host memory, no checkpoint is saved, and NICs access GPUs directly"},
      KeyEffect{"cluster.node.storage.*", "job.nvme=yes", "nothing is offloaded to drives"},
      KeyEffect{"cluster.fabric.*", "cluster.nodes>1", "there is one host: no traffic leaves it"},
      KeyEffect{"simulate.congestion_control.*", "cluster.nodes>1", "there is one host: no traffic meets a switch"},
      on_one_path("cluster.fabric.local.links"),
      on_one_path("cluster.fabric.global.links"),
      on_one_path("cluster.fabric.spines"),
      KeyEffect{"cluster.fabric.reduction.*", kInSwitches,
                "in-switch reduction needs several hosts and NCCL_COLLNET_ENABLE=1 in comm.env, or a comm.plan with "
                "CollNet"},
      KeyEffect{"cluster.fabric.reduction.*",
                "collectives.model=chunks | collectives.overhead=kernels | "
                "collectives.tuner=nccl",
                "only NCCL's CollNet uses it, and NCCL is not simulated"},
      seen_in_dimensions("cluster.fabric"),
      over_nics("comm.env.NCCL_CROSS_NIC"),
      over_nics("comm.env.NCCL_PXN_DISABLE"),
      over_nics("comm.env.NCCL_P2P_PXN_LEVEL"),
      seen_in_dimensions("cluster.node.nvlink"),
      seen_in_dimensions("cluster.node.pcie"),
      seen_in_dimensions("cluster.node.nic"),
      in_listed_links("cluster.node.nvlink"),
      in_listed_links("cluster.node.pcie"),
      in_listed_links("cluster.node.nic"),
  };
  return kEffects;
}

}  // namespace ringwright::network_models
