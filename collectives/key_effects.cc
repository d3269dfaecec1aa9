#include "collectives/key_effects.h"

#include <array>

namespace ringwright::collectives {

std::span<const KeyEffect> collective_key_effects() {
  constexpr std::string_view kKernels = "'collectives.model: chunks' uses the choice of NCCL or of comm.plan";
  constexpr std::string_view kNcclChooses =
      "collectives.tuner=nccl | collectives.model=chunks | interference.model=share";
  constexpr std::string_view kRulesChoose =
      "with 'collectives.tuner: simple' a few rules choose the algorithm; only a call whose algorithm has no kernel "
      "takes the overhead of NCCL's choice";
  constexpr std::string_view kLibraryCounts =
      "collectives.model=chunks | collectives.overhead=kernels | collectives.tuner=nccl | interference.model=share | "
      "comm.library!=nccl & comm.library!=rccl";
  constexpr std::string_view kVariablesCount =
      "collectives.model=chunks | collectives.overhead=kernels | collectives.tuner=nccl | interference.model=share | "
      "comm.library=oneccl | comm.library=horovod";
  constexpr std::string_view kKernelsOnly = "'collectives.model: chunks' simulates NCCL's kernels only";
  static constexpr std::array kEffects = {
      KeyEffect{"collectives.tuner", "collectives.model!=chunks", kKernels},
      KeyEffect{"collectives.nvls", "collectives.model!=chunks", kKernels},
      KeyEffect{"collectives.nvls", "collectives.tuner!=nccl",
                "NCCL chooses: set NCCL_NVLS_ENABLE in comm.env "
                "instead"},
      KeyEffect{"collectives.*.algorithm", "collectives.model!=chunks", kKernels},
      KeyEffect{"collectives.*.from", "collectives.model!=chunks", kKernels},
      KeyEffect{"collectives.step_costs.eager", "collectives.step_costs.rendezvous>0",
                "the rendezvous takes no time: step_costs.rendezvous is 0"},
      KeyEffect{"comm.costs.network.at_once", "simulate.network!=alpha_beta",
                "in the network model 'alpha_beta' messages do not wait for each other"},
      KeyEffect{"comm.costs.host", "",
                "only back-to-back calls as in nccl-tests wait for the thread that issues them ('ringwright "
                "collective'); in a training step it is compute.host_issue"},
      KeyEffect{"comm.library", kLibraryCounts, kNcclDoesNotCount},
      KeyEffect{"comm.nccl_version", kNcclCounts, kNcclDoesNotCount},
      KeyEffect{"comm.env.*", kVariablesCount, kNcclDoesNotCount},
      KeyEffect{"comm.env.HOROVOD_CYCLE_TIME", "collectives.model!=chunks", kKernelsOnly},
      KeyEffect{"comm.env.HOROVOD_CACHE_CAPACITY", "collectives.model!=chunks", kKernelsOnly},
      KeyEffect{"comm.env.NCCL_ALGO", kNcclChooses, kRulesChoose},
      KeyEffect{"comm.tuner_config", kNcclCounts, kNcclDoesNotCount},
      KeyEffect{"comm.tuner_config", kNcclChooses, kRulesChoose},
      KeyEffect{"comm.graph", kNcclCounts, kNcclDoesNotCount},
  };
  return kEffects;
}

}  // namespace ringwright::collectives
