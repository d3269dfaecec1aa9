// The table of channel algorithms: collectives as NCCL's kernels execute them.
#pragma once

#include <span>
#include <string_view>

#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

[[nodiscard]] std::span<const ChannelAlgorithm* const> channel_algorithms();
// By the name in CollectivePlan; null when no algorithm has it.
[[nodiscard]] const ChannelAlgorithm* find_channel_algorithm(std::string_view name);
// Not in the table, since it is not a collective: one message between two ranks (a broadcast among two members).
[[nodiscard]] const ChannelAlgorithm& channel_send();

}  // namespace ringwright::collectives
