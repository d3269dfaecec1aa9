// How long a primitive keeps its thread block by itself, apart from links and peers.
#pragma once

#include "core/plan/channel_costs.h"
#include "core/run/kernels/chunk_play.h"

namespace ringwright {

// Bytes that a message's data take on a link.
[[nodiscard]] Bytes on_wire(const ChunkPlay& play, Bytes size);

// Where flags travel with the data, the peer inside a host passes on what has come: the bytes and the time of one pass
// of the threads over the present primitive's lines, after which the peer may begin and which it still needs when the
// last of them have come. 0: one pass is all, or the protocol tells of whole messages only.
[[nodiscard]] Bytes lines_of(const ChunkPlay& play, const ChunkBlock& block);
[[nodiscard]] Duration line_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);

// Of the block's present primitive: before its bytes move, and while they do, beside the links.
[[nodiscard]] Duration fixed_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);
[[nodiscard]] Duration moving_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block);

}  // namespace ringwright
