// The NICs by which the rings of a graph file of NCCL enter and leave a host, beside those that GPUs use here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::collectives {

// One channel of the file's rings: `dev` of its <net>s and of the GPUs next to them; -1: there is none.
struct RingNets {
  int in = -1;
  int first_gpu = -1;
  int last_gpu = -1;
  int out = -1;
  int highest_gpu = -1;  // of all its GPUs
};

[[nodiscard]] Result<std::vector<RingNets>> parse_ring_nets(std::string_view text, const std::string& name);

// Messages enter and leave by the NIC of the GPU at that end (`nic_of`, by GPU). Says where the rings use others;
// empty: nowhere.
[[nodiscard]] std::string other_nets(std::span<const RingNets> rings, std::span<const int> nic_of);

}  // namespace ringwright::collectives
