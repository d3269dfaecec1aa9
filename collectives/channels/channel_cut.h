// How NCCL cuts a buffer: equal cells for channels, each cell into loops of chunks, each chunk into slices.
//
// All channels get cells of one size, all chunks of a loop are of one size, and messages are as long as the longest of
// their kind; the end of the buffer is padded (at most 16 bytes per chunk). So equal ranks do equal work for every
// buffer size. `inside` returns the bytes that are data. Versions that round a chunk up to a grain leave the last
// channels without work.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

inline constexpr std::int64_t kAlignment = 16;  // bytes; NCCL rounds chunks up to it

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
[[nodiscard]] constexpr Bytes align_up(Bytes size) {
  return Bytes(ceil_div(size.count(), kAlignment) * kAlignment);
}

// Useful data in one slot: 4 MiB, 512 KiB and 4800 KiB of buffer in 8 slots, less the flags.
[[nodiscard]] Bytes slot_data(const CollectivePlan& plan);

// Chunks of a message over the network: finer for small messages (addP2pToPlan of src/enqueue.cc, 2.20 and later).
[[nodiscard]] constexpr Bytes network_chunk(Bytes chunk, Bytes message) {
  constexpr int kLoops = 8;
  if (message < chunk) return align_up(chunk / 4);
  return message < chunk * kLoops ? align_up(chunk / 2) : chunk;
}

// The cells of a plan's channels. Channels of one kind use the same path; kind k has channels k, k + kinds, ...
class ChannelCells {
 public:
  // At most `kinds` paths, and no more than channels that have work.
  struct Wanted {
    int channels = 1;
    int kinds = 1;
    Bytes least = {};  // of a cell
  };
  ChannelCells(Bytes total, Wanted wanted);

  [[nodiscard]] Bytes cell() const { return cell_; }
  [[nodiscard]] int channels() const { return channels_; }
  [[nodiscard]] int kinds() const { return kinds_; }
  [[nodiscard]] int copies(int kind) const { return (channels_ - kind + kinds_ - 1) / kinds_; }

  struct Range {
    Bytes offset;  // in each cell
    Bytes length;
  };
  // How much of a range of the cells of one kind lies inside a buffer of `total` bytes (no longer than the buffer that
  // was cut).
  [[nodiscard]] Bytes inside(Bytes total, int kind, const Range& range) const;

 private:
  Bytes cell_;
  int channels_ = 1;
  int kinds_ = 1;
};

// One cell in loops, cut into chunks. Every loop has `parts` chunks of one size; the last loop has smaller ones.
class ChunkLoops {
 public:
  struct Shape {
    int parts = 1;
    Bytes chunk;
    int slices = 1;     // of a chunk, at most
    Bytes least_slice;  // no chunk is cut into smaller ones
  };
  ChunkLoops(Bytes cell, const Shape& shape);

  // A primitive's position, when each loop processes the slices of `steps` chunks one after another.
  struct SliceIndex {
    std::int64_t loop = 0;
    int step = 0;
    int slice = 0;
  };
  [[nodiscard]] std::int64_t primitives(int steps) const { return slices_in_all() * steps; }
  [[nodiscard]] SliceIndex place(std::int64_t index, int steps) const;

  [[nodiscard]] std::int64_t loops() const { return loops_; }
  // Of one part, summed over all loops.
  [[nodiscard]] std::int64_t slices_in_all() const;
  [[nodiscard]] std::int64_t slice_number(const SliceIndex& place) const {
    return place.loop * full_slices_ + place.slice;
  }
  [[nodiscard]] SliceIndex slice_at(std::int64_t number) const;
  [[nodiscard]] Bytes slice_size(const SliceIndex& place) const { return slice(place, 0).length; }
  // Offset of a chunk's slice in the cell.
  [[nodiscard]] ChannelCells::Range slice(const SliceIndex& place, int part) const;

 private:
  [[nodiscard]] bool is_last(std::int64_t loop) const { return loop == loops_ - 1; }
  [[nodiscard]] int slice_count(Bytes chunk) const;
  [[nodiscard]] Bytes first_slice(Bytes chunk) const;

  Shape shape_;
  Bytes last_chunk_;
  std::int64_t loops_ = 0;
  int full_slices_ = 1;
  int last_slices_ = 1;
};

// A cell whose last chunks are a multiple of the plan's grain, for loops of this shape; 0 where the plan sets no grain.
[[nodiscard]] Bytes ragged_cell(Bytes total, const CollectivePlan& plan, const ChunkLoops::Shape& shape);

}  // namespace ringwright::collectives
