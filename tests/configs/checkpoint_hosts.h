// The job and the machine on which checkpoints are timed.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/configs/played.h"

namespace ringwright::configs {

// Two hosts with one GPU and one NIC of 12.5 GB/s each, and PCIe slots of 63 GB/s. The all-reduce of gradients has the
// wire to itself, or shares it with a checkpoint. With `copies: 2` the GPU's slot carries a part three times (to the
// NIC, to its own host, and its peer's part to that host), which takes less time than over the NIC.
inline std::string two_hosts(std::string_view checkpoint) {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 64}}\nparallel: {{dp: auto}}\ncollectives: {{dp: {{algorithm: ring}}}}\n"
             "cluster: {{nodes: 2, node: {{preset: dgx-h100, gpus: 1, pcie: {{switches: 1}}, nvlink: {{kind: none}}, "
             "nic: {{count: 1, bandwidth: 100Gbps, efficiency: 100%}}}}, fabric: {{type: fat_tree}}}}\n{}\n",
             checkpoint);
}

}  // namespace ringwright::configs
