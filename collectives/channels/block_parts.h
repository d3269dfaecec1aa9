// The parts of a member's thread blocks (ChannelAlgorithm::parts) from one key per block.
#pragma once

#include <span>
#include <vector>

namespace ringwright::collectives {

// Numbers the blocks in the order of their keys; equal keys in the order of the blocks.
void parts_by_key(std::span<const int> keys, std::vector<int>& parts);

}  // namespace ringwright::collectives
