// One row a channel algorithm.
#include "collectives/builtin_channels.h"

#include <array>

namespace ringwright::collectives {

const ChannelAlgorithm& channel_ring();

std::span<const ChannelAlgorithm* const> channel_algorithms() {
  static const std::array kRows = {
      &channel_ring(),
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
