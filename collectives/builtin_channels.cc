// One row per channel algorithm.
#include "collectives/builtin_channels.h"

#include <array>

namespace ringwright::collectives {

const ChannelAlgorithm& channel_ring();
const ChannelAlgorithm& channel_tree();
const ChannelAlgorithm& channel_nvls();
const ChannelAlgorithm& channel_nvls_tree();
const ChannelAlgorithm& channel_collnet_direct();
const ChannelAlgorithm& channel_collnet_chain();
const ChannelAlgorithm& channel_pat();
const ChannelAlgorithm& channel_p2p();
const ChannelAlgorithm& channel_all_pairs();

std::span<const ChannelAlgorithm* const> channel_algorithms() {
  static const std::array kRows = {
      &channel_ring(),
      &channel_tree(),
      &channel_nvls(),
      &channel_nvls_tree(),
      &channel_collnet_direct(),
      &channel_collnet_chain(),
      &channel_pat(),
      &channel_p2p(),
      &channel_all_pairs(),
  };
  return kRows;
}

const ChannelAlgorithm* find_channel_algorithm(std::string_view name) {
  for (const ChannelAlgorithm* algorithm : channel_algorithms()) {
    if (algorithm->name() == name) return algorithm;
  }
  return nullptr;
}

}  // namespace ringwright::collectives
