// The time a primitive occupies its thread block by itself, without links and peers.
#pragma once

#include "core/plan/channel_costs.h"
#include "core/run/kernels/chunk_play.h"

namespace ringwright {

// Wire bytes of a message's data.
[[nodiscard]] Bytes on_wire(const ChunkPlay& play, Bytes size);

// Where flags travel with the data, the peer inside a host forwards lines as they arrive: the bytes and the time of one
// pass of the threads over the current primitive's lines, after which the peer may begin and which it still needs when
// the last lines have arrived. 0: one pass is all, or the protocol signals whole messages only.
[[nodiscard]] Bytes lines_of(const ChunkPlay& play, const ChunkBlock& block);
[[nodiscard]] Duration line_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);

// Of the block's current primitive: before its bytes move, and while they do, without the links.
[[nodiscard]] Duration fixed_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);
[[nodiscard]] Duration moving_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);

}  // namespace ringwright
