// Cells, loops, chunks and slices as NCCL's collectives compute them (src/enqueue.cc, src/device/all_reduce.h,
// src/device/prims_simple.h of NCCL 2.19 to 2.27).
#include "collectives/channels/channel_cut.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::collectives {

using namespace ringwright::literals;

Bytes slot_data(const CollectivePlan& plan) {
  if (plan.chunk > Bytes(0)) return align_up(plan.chunk);
  switch (plan.protocol) {
    case Protocol::kLl: return 32_KiB;
    case Protocol::kLl128: return Bytes(576'000);  // 600 KiB of lines, 120 of 128 bytes useful
    case Protocol::kSimple: return 512_KiB;
  }
  return 512_KiB;
}

ChannelCells::ChannelCells(Bytes total, Wanted wanted) {
  CHECK(wanted.channels >= 1 && wanted.kinds >= 1, "a plan has channels");
  cell_ = std::max(align_up(Bytes(ceil_div(total.count(), wanted.channels))), Bytes(kAlignment));
  cell_ = std::max(cell_, std::min(wanted.least, align_up(total)));
  channels_ = static_cast<int>(std::max<std::int64_t>(ceil_div(total.count(), cell_.count()), 1));
  kinds_ = std::min(wanted.kinds, channels_);
}

Bytes ChannelCells::inside(Bytes total, int kind, const Range& range) const {
  Bytes sum;
  for (int channel = kind; channel < channels_; channel += kinds_) {
    const Bytes begin = cell_ * channel + range.offset;
    const Bytes end = std::min({begin + range.length, cell_ * (channel + 1), total});
    sum += std::max(end - begin, Bytes(0));
  }
  return sum;
}

Bytes ragged_cell(Bytes total, const CollectivePlan& plan, const ChunkLoops::Shape& shape) {
  if (plan.grain == Bytes(0)) return Bytes(0);
  const Bytes even(ceil_div(total.count(), plan.channels));
  const Bytes loop = shape.chunk * shape.parts;
  const Bytes whole_loops = loop * (even.count() / loop.count());
  const std::int64_t rest = ceil_div((even - whole_loops).count(), shape.parts);
  const Bytes chunk(ceil_div(rest, plan.grain.count()) * plan.grain.count());
  return whole_loops + align_up(std::min(chunk, shape.chunk)) * shape.parts;
}

ChunkLoops::ChunkLoops(Bytes cell, const Shape& shape) : shape_(shape) {
  const Bytes loop = shape.chunk * shape.parts;
  loops_ = std::max<std::int64_t>(ceil_div(cell.count(), loop.count()), 1);
  const Bytes rest = cell - loop * (loops_ - 1);
  last_chunk_ = std::min(shape.chunk, align_up(Bytes(ceil_div(rest.count(), shape.parts))));
  full_slices_ = slice_count(shape.chunk);
  last_slices_ = slice_count(last_chunk_);
}

Bytes ChunkLoops::first_slice(Bytes chunk) const {
  const Bytes even = align_up(Bytes(ceil_div(chunk.count(), shape_.slices)));
  return std::min(chunk, std::max(even, shape_.least_slice));
}

// Empty slices are passed on as well (genericOp of prims_simple.h).
int ChunkLoops::slice_count(Bytes chunk) const {
  return chunk <= Bytes(0) ? 1 : shape_.slices;
}

std::int64_t ChunkLoops::slices_in_all() const { return (loops_ - 1) * full_slices_ + last_slices_; }

ChunkLoops::SliceIndex ChunkLoops::place(std::int64_t index, int steps) const {
  const std::int64_t per_loop = std::int64_t{full_slices_} * steps;
  const std::int64_t loop = std::min(index / per_loop, loops_ - 1);
  const auto rest = static_cast<int>(index - loop * per_loop);
  const int slices = is_last(loop) ? last_slices_ : full_slices_;
  return {.loop = loop, .step = rest / slices, .slice = rest % slices};
}

ChunkLoops::SliceIndex ChunkLoops::slice_at(std::int64_t number) const {
  const std::int64_t loop = std::min(number / full_slices_, loops_ - 1);
  return {.loop = loop, .step = 0, .slice = static_cast<int>(number - loop * full_slices_)};
}

ChannelCells::Range ChunkLoops::slice(const SliceIndex& place, int part) const {
  const Bytes chunk = is_last(place.loop) ? last_chunk_ : shape_.chunk;
  const Bytes first = first_slice(chunk);
  const Bytes begin = shape_.chunk * shape_.parts * place.loop + chunk * part;
  const Bytes offset = std::min(first * place.slice, chunk);
  return {.offset = begin + offset, .length = std::min(first, chunk - offset)};
}

}  // namespace ringwright::collectives
