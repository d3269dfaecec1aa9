#include "configs/scenario/mixed_error_codes.h"

#include <array>

namespace ringwright::configs {
namespace {

constexpr std::array kMixedCodes = {
    ErrorCode{.code = "E590",
              .title = "groups of nodes that do not form one cluster",
              .explanation =
                  "`cluster.groups` lists groups of hosts, each with its number of `nodes` and its `node`, instead of "
                  "cluster.nodes and\ncluster.node. Ranks fill the groups in the order of the list, and hosts of all "
                  "groups have the same number of GPUs.",
              .example = "cluster: { groups: [{nodes: 4, node: {preset: dgx-h100}}, {nodes: 4, node: {preset: "
                         "dgx-a100}}] }"},
    ErrorCode{.code = "E591",
              .title = "GPUs of different vendors in one library",
              .explanation =
                  "NCCL runs on NVIDIA's GPUs and RCCL on AMD's: no communicator of either spans both. Each chooses "
                  "inside its own groups\n(tuner: nccl), and collectives of such a cluster are simulated as messages, "
                  "without the kernels of a library.",
              .example = "collectives: { model: steps, overhead: none, tuner: nccl, dp: { algorithm: islands } }"},
    ErrorCode{.code = "W590",
              .title = "kernel times of different accuracy in one cluster",
              .explanation = "Kernels of one group's GPU have measured constants, and those of another are estimated "
                             "from its data sheet.",
              .example = "ringwright list kernels    # GPUs with measured kernels"},
    ErrorCode{.code = "E594",
              .title = "a price or a power of another GPU",
              .explanation =
                  "`cost` has one price and one power for all GPUs. They stand next to `cost.gpu`, the name of a GPU "
                  "(as in `cost.preset`),\nand the cluster has others, or several kinds: give your own numbers, of "
                  "several kinds their mean.",
              .example = "cost: { preset: dgx-h100, usd_per_gpu_hour: 2.6, gpu_watts: 550 }"},
};

}  // namespace

std::span<const ErrorCode> mixed_error_codes() {
  return kMixedCodes;
}

}  // namespace ringwright::configs
