// How long a primitive keeps its thread block by itself, apart from links and peers.
#pragma once

#include "core/plan/channel_costs.h"
#include "core/run/chunk_play.h"

namespace ringwright {

// Bytes that a message's data take on a link.
[[nodiscard]] Bytes on_wire(const ChunkPlay& play, Bytes size);

// Of the block's present primitive: before its bytes move, and while they do, beside the links.
[[nodiscard]] Duration fixed_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);
[[nodiscard]] Duration moving_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);

}  // namespace ringwright
