// How long a primitive keeps its thread block by itself, apart from links and peers.
#pragma once

#include "core/plan/channel_costs.h"
#include "core/run/chunk_play.h"

namespace ringwright {

// Of the block's present primitive.
[[nodiscard]] Duration primitive_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);

}  // namespace ringwright
