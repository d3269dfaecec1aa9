// The memory of a GPU of each stage over a step: what stays, and the activations of microbatches in flight.
//
// A microbatch holds its activations from the start of its forward pass to the end of its last backward pass. The most
// that are held at once are those of the memory table, so that the peak of a line is the table's total; activations are
// the same for each microbatch and model chunk.
#include <algorithm>
#include <map>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"
#include "traces/timeline/slice_names.h"

namespace ringwright::planning {
namespace {

using traces::Timeline;

constexpr std::size_t kMostMemoryPoints = 20'000;

struct HeldFrom {
  TimePoint start;
  TimePoint end;
};

// Changes of the number of microbatches in flight, by time; several at one time are one.
struct InFlight {
  std::map<TimePoint, int> changes;
  int most = 0;
};

InFlight in_flight(const Timeline& timeline, std::uint32_t rank) {
  std::map<std::pair<std::string, std::string>, HeldFrom> held;
  for (const traces::TimelineSlice& slice : timeline.slices) {
    if (slice.kind != traces::SliceKind::kCompute || timeline.tracks[slice.track].rank != rank) continue;
    if (slice.end <= timeline.step_start) continue;
    const auto pass = traces::pass_of(timeline.names[slice.name]);
    if (!pass) continue;
    const auto [known, is_new] = held.try_emplace({pass->microbatch, pass->chunk}, slice.start, slice.end);
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

// What grows with the microbatches in flight.
double activation_bytes(const JsonValue& stage) {
  double bytes = 0.0;
  const JsonValue& items = stage["items_bytes"];
  for (const std::string& item : items.keys) {
    if (item.ends_with("activations") || item == "logits") bytes += items[item].number().value_or(0.0);
  }
  return bytes;
}

std::optional<std::uint32_t> rank_of_stage(const Timeline& timeline, std::size_t stage, std::size_t stages) {
  const std::string role = "stage " + std::to_string(stage);
  const auto found = std::ranges::find(timeline.ranks, role, &traces::TimelineRank::role);
  if (found != timeline.ranks.end()) return static_cast<std::uint32_t>(found - timeline.ranks.begin());
  // Without a pipeline the role has another name.
  return stages == 1 && !timeline.ranks.empty() ? std::optional<std::uint32_t>(0) : std::nullopt;
}

Panel not_recorded(const ResultInput& result) {
  return {
      .id = "over-time",
      .title = "Memory, links and critical path",
      .sentence = "What each stage and each link does over time.",
      .wide = true,
      .note = result.no_timeline.empty()
                  ? "Not part of result.json: `ringwright run SCENARIO --html FILE` records the tasks and the links "
                    "of a step, and shows memory and use of the links over time and the critical path."
                  : result.no_timeline};
}

}  // namespace

std::vector<Panel> memory_over_time(const ResultInput& result) {
  if (result.timeline == nullptr) return {not_recorded(result)};
  const Timeline& timeline = *result.timeline;
  const std::vector<JsonValue>& stages = result.json["memory"].list();
  double most = 0.0;
  for (const JsonValue& stage : stages) most = std::max(most, stage["total_bytes"].number().value_or(0.0));
  const UnitScale bytes = byte_scale(most), time = time_scale(to_seconds(timeline.step_end - timeline.step_start));
  PanelColumn series = text_column("stage"), at = number_column("time", std::string(time.unit)),
              memory = number_column("memory", std::string(bytes.unit)),
              held = number_column("microbatches in flight", "");
  std::size_t shown = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const auto rank = rank_of_stage(timeline, stage, stages.size());
    if (!rank) continue;
    const InFlight flight = in_flight(timeline, *rank);
    if (flight.most == 0 || series.size() + 2 * flight.changes.size() > kMostMemoryPoints) continue;
    const double moving = activation_bytes(stages[stage]);
    const double fixed = stages[stage]["total_bytes"].number().value_or(0.0) - moving;
    const auto add = [&](TimePoint when, int microbatches) {
      texts(series).push_back("stage " + std::to_string(stage));
      numbers(at).push_back(to_seconds(std::clamp(when, timeline.step_start, timeline.step_end) - timeline.step_start) *
                            time.factor);
      numbers(memory).push_back((fixed + moving * microbatches / flight.most) * bytes.factor);
      numbers(held).push_back(microbatches);
    };
    ++shown;
    int now = 0;
    add(timeline.step_start, now);
    for (const auto& [when, change] : flight.changes) {
      add(when, now);
      add(when, now += change);
    }
    add(timeline.step_end, now);
  }
  if (shown == 0) return {};
  Panel panel{.id = "memory-over-time",
              .title = "Memory of each stage over the step",
              .sentence =
                  "A microbatch holds its activations from its forward to its last backward pass; the most that "
                  "are held at once are those of the memory table, and all microbatches hold as much.",
              .chart = Chart::kLines,
              .columns = {series, at, memory, held},
              .wide = true};
  if (shown < stages.size()) {
    panel.note = count_text(static_cast<double>(shown)) + " of " + count_text(static_cast<double>(stages.size())) +
                 " stages are shown: the others have no passes in the timeline, or too many for a page.";
  }
  const double capacity = stages.front()["capacity_bytes"].number().value_or(0.0);
  if (capacity > 0.0) panel.marks.push_back({.name = "capacity", .value = capacity * bytes.factor});
  return {panel};
}

}  // namespace ringwright::planning
