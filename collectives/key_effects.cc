#include "collectives/key_effects.h"

#include <array>

namespace ringwright::collectives {
namespace {

constexpr std::string_view kNcclChooses =
    "collectives.tuner=nccl | collectives.model=chunks | interference.model=share";
constexpr std::string_view kRulesChoose =
    "with 'collectives.tuner: simple' a few rules choose the algorithm; only a call whose algorithm has no kernel "
    "takes the overhead of NCCL's choice";

constexpr KeyEffect by_rules(std::string_view key) {
  return {.keys = key, .needs = kNcclChooses, .why = kRulesChoose, .partly = true};
}

}  // namespace

std::span<const KeyEffect> collective_key_effects() {
  constexpr std::string_view kLibraryCounts =
      "collectives.model=chunks | collectives.overhead=kernels | collectives.tuner=nccl | interference.model=share | "
      "comm.library!=nccl & comm.library!=rccl";
  constexpr std::string_view kVariablesCount =
      "collectives.model=chunks | collectives.overhead=kernels | collectives.tuner=nccl | interference.model=share | "
      "comm.library=oneccl | comm.library=horovod";
  constexpr std::string_view kNoNvlink =
      "GPUs have no NVLink: over PCIe, direct copies and copies through host memory take the same paths here";
  constexpr std::string_view kKernelsOnly = "'collectives.model: chunks' simulates NCCL's kernels only";
  static constexpr std::array kEffects = {
      KeyEffect{"collectives.nvls", "collectives.tuner!=nccl",
                "NCCL chooses: set NCCL_NVLS_ENABLE in comm.env "
                "instead"},
      KeyEffect{"collectives.step_costs.eager", "collectives.step_costs.rendezvous>0",
                "the rendezvous takes no time: step_costs.rendezvous is 0"},
      KeyEffect{"comm.costs.network.at_once", "simulate.network!=alpha_beta & simulate.network!=astra_unaware",
                "in the network models 'alpha_beta' and 'astra_unaware' messages do not wait for each other"},
      KeyEffect{"comm.costs.host", "run.of=one collective",
                "only back-to-back calls as in nccl-tests wait for the thread that issues them ('ringwright "
                "collective'); in a training step it is compute.host_issue"},
      KeyEffect{"comm.library", kLibraryCounts, kNcclDoesNotCount},
      KeyEffect{"comm.nccl_version", kNcclCounts, kNcclDoesNotCount},
      // Without GPUDirect, messages of every rung cross host memory.
      KeyEffect{.keys = "comm.env.*",
                .needs = kVariablesCount,
                .why = kNcclDoesNotCount,
                .except = "comm.env.NCCL_NET_GDR_LEVEL"},
      KeyEffect{"comm.env.NCCL_P2P_DISABLE", "cluster.nvlink=yes", kNoNvlink},
      KeyEffect{"comm.env.NCCL_P2P_LEVEL", "cluster.nvlink=yes", kNoNvlink},
      KeyEffect{"comm.env.HOROVOD_CYCLE_TIME", "collectives.model!=chunks", kKernelsOnly},
      KeyEffect{"comm.env.HOROVOD_CACHE_CAPACITY", "collectives.model!=chunks", kKernelsOnly},
      by_rules("comm.env.NCCL_ALGO"),
      KeyEffect{"comm.tuner_config", kNcclCounts, kNcclDoesNotCount},
      by_rules("comm.tuner_config"),
      KeyEffect{"comm.graph", kNcclCounts, kNcclDoesNotCount},
  };
  return kEffects;
}

}  // namespace ringwright::collectives
