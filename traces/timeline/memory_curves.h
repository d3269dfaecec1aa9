// Device memory of a GPU over a run: what stays, and the activations of microbatches in flight.
//
// A microbatch holds its activations from the start of its forward pass to the end of its last backward pass. The most
// that are held at once are those of the memory table, so that the peak of a curve is the table's total; activations
// are the same for each microbatch and model chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/report/facts.h"

namespace ringwright::traces {

struct Timeline;

// Changes of the number of microbatches in flight, by time; several at one time are one.
struct InFlight {
  std::map<TimePoint, int> changes;
  int most = 0;
};

// Of a rank of the timeline; passes that end by `from` are left out.
[[nodiscard]] InFlight microbatches_in_flight(const Timeline& timeline, std::uint32_t rank, TimePoint from);

// Whether an item of the memory table grows with the microbatches in flight.
[[nodiscard]] bool grows_in_flight(std::string_view item);

struct MemoryPoint {
  TimePoint at;
  Bytes held;  // until the next point
};

struct MemoryCurve {
  std::uint32_t rank = 0;  // into Timeline::ranks
  std::vector<MemoryPoint> points;
};

struct MemoryCurves {
  std::vector<MemoryCurve> of_ranks;
  std::size_t left_out = 0;  // ranks whose points would have been too many
};

// From the memory table's rows, by stage: of all ranks with passes, as long as there are at most `most` points in all.
[[nodiscard]] MemoryCurves memory_curves(const Timeline& timeline, std::span<const MemoryRow> rows, std::size_t most);

}  // namespace ringwright::traces
