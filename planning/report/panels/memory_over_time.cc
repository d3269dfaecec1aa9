// The memory of a GPU of each stage over a step, as in timelines (memory_curves.h).
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/memory_role.h"
#include "planning/report/scales.h"
#include "traces/timeline/memory_curves.h"

namespace ringwright::planning {
namespace {

using traces::Timeline;

constexpr std::size_t kMostMemoryPoints = 20'000;

// What grows with the microbatches in flight.
double activation_bytes(const JsonValue& stage) {
  double bytes = 0.0;
  const JsonValue& items = stage["items_bytes"];
  for (const std::string& item : items.keys) {
    if (traces::grows_in_flight(item)) bytes += items[item].number().value_or(0.0);
  }
  return bytes;
}

std::optional<std::uint32_t> rank_of_stage(const Timeline& timeline, const std::string& role, std::size_t stages) {
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
    const auto rank = rank_of_stage(timeline, role_of(stages[stage]), stages.size());
    if (!rank) continue;
    const traces::InFlight flight = traces::microbatches_in_flight(timeline, *rank, timeline.step_start);
    if (flight.most == 0 || series.size() + 2 * flight.changes.size() > kMostMemoryPoints) continue;
    const double moving = activation_bytes(stages[stage]);
    const double fixed = stages[stage]["total_bytes"].number().value_or(0.0) - moving;
    const auto add = [&](TimePoint when, int microbatches) {
      texts(series).push_back(role_of(stages[stage]));
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
