#include "traces/timeline/memory_curves.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "traces/timeline/slice_names.h"
#include "traces/timeline/timeline.h"

namespace ringwright::traces {
namespace {

struct HeldFrom {
  TimePoint start;
  TimePoint end;
};

// Without a pipeline the role has another name than the only stage.
const MemoryRow* row_of(const TimelineRank& rank, std::span<const MemoryRow> rows) {
  if (rows.size() == 1) return &rows.front();
  const auto row = std::ranges::find_if(rows, [&](const MemoryRow& r) { return rank.role == r.role(); });
  return row == rows.end() ? nullptr : &*row;
}

MemoryCurve curve_of(const InFlight& flight, std::uint32_t rank, const MemoryRow& row) {
  Bytes moving;
  for (const MemoryItem& item : row.items) {
    if (grows_in_flight(item.name)) moving = moving + item.size;
  }
  const double each = static_cast<double>(moving.count()) / flight.most;
  const Bytes fixed = row.total - moving;
  MemoryCurve curve{.rank = rank, .points = {{.at = TimePoint(), .held = fixed}}};
  int now = 0;
  for (const auto& [at, change] : flight.changes) {
    if (change == 0) continue;
    now += change;
    if (at == TimePoint()) curve.points.clear();
    curve.points.push_back({.at = at, .held = fixed + Bytes(std::llround(each * now))});
  }
  return curve;
}

}  // namespace

InFlight microbatches_in_flight(const Timeline& timeline, std::uint32_t rank, TimePoint from) {
  std::map<std::tuple<std::uint32_t, std::string, std::string>, HeldFrom> held;
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.kind != SliceKind::kCompute || timeline.tracks[slice.track].rank != rank) continue;
    if (slice.end <= from) continue;
    const auto pass = pass_of(timeline.names[slice.name]);
    if (!pass) continue;
    const auto [known, is_new] =
        held.try_emplace({slice.iteration, pass->microbatch, pass->chunk}, slice.start, slice.end);
    known->second.start = std::min(known->second.start, slice.start);
    known->second.end = std::max(known->second.end, slice.end);
  }
  InFlight result;
  for (const auto& [microbatch, span] : held) {
    ++result.changes[span.start];
    --result.changes[span.end];
  }
  int now = 0;
  for (const auto& [time, change] : result.changes) result.most = std::max(result.most, now += change);
  return result;
}

bool grows_in_flight(std::string_view item) {
  return item.ends_with("activations") || item == "logits";
}

MemoryCurves memory_curves(const Timeline& timeline, std::span<const MemoryRow> rows, std::size_t most) {
  MemoryCurves curves;
  std::size_t points = 0;
  for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    const MemoryRow* const row = row_of(timeline.ranks[rank], rows);
    if (row == nullptr) continue;
    const InFlight flight = microbatches_in_flight(timeline, rank, TimePoint());
    if (flight.most == 0) continue;
    MemoryCurve curve = curve_of(flight, rank, *row);
    if (points + curve.points.size() > most) {
      ++curves.left_out;
      continue;
    }
    points += curve.points.size();
    curves.of_ranks.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace ringwright::traces
