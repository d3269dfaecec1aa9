// Writes a timeline in Chrome's JSON (Trace Event Format): for small runs and for viewers without protobuf.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "traces/timeline/counters.h"
#include "traces/timeline/timeline.h"

namespace ringwright::traces {
namespace {

std::string microseconds_text(Duration time) {
  return fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
}

std::string metadata_text(const char* what, std::uint32_t process, std::size_t thread, const std::string& name) {
  return fmt::format("{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": {}}}}}", what,
                     process, thread, json_text(name));
}

}  // namespace

std::string chrome_trace(const Timeline& timeline) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  bool first = true;
  const auto add = [&](const std::string& event) {
    text += (first ? "\n" : ",\n") + event;
    first = false;
  };
  for (const TimelineRank& rank : timeline.ranks) {
    add(metadata_text("process_name", rank.rank.value, 0, fmt::format("rank {} ({})", rank.rank.value, rank.role)));
  }
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) {
    const TimelineTrack& track = timeline.tracks[i];
    add(metadata_text("thread_name", timeline.ranks[track.rank].rank.value, i + 1, track.name));
  }
  std::vector<bool> flow_begun;
  for (const TimelineSlice& slice : timeline.slices) {
    const std::uint32_t process = timeline.ranks[timeline.tracks[slice.track].rank].rank.value;
    const std::string start = microseconds_text(slice.start.since_start());
    add(fmt::format(
        "{{\"ph\": \"X\", \"name\": {}, \"cat\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}, "
        "\"args\": {{\"bytes\": {}, \"step\": {}}}}}",
        json_text(timeline.names[slice.name]), to_string(slice.kind), process, slice.track + 1, start,
        microseconds_text(slice.end - slice.start), slice.bytes.count(), slice.iteration));
    if (slice.flow == 0) continue;
    if (slice.flow >= flow_begun.size()) flow_begun.resize(slice.flow + 1, false);
    add(fmt::format(
        "{{\"ph\": \"{}\", \"name\": \"together\", \"cat\": \"flow\", \"id\": {}, \"pid\": {}, \"tid\": {}, "
        "\"ts\": {}}}",
        flow_begun[slice.flow] ? 't' : 's', slice.flow, process, slice.track + 1, start));
    flow_begun[slice.flow] = true;
  }
  // Links belong to no rank: the process after the last one.
  const std::uint32_t fabric = timeline.ranks.empty() ? 0 : timeline.ranks.back().rank.value + 1;
  if (timeline.links) add(metadata_text("process_name", fabric, 0, "links"));
  for (const TimelineCounter& counter : counters_of(timeline)) {
    const std::uint32_t process = counter.rank ? timeline.ranks[*counter.rank].rank.value : fabric;
    const std::string head =
        fmt::format("{{\"ph\": \"C\", \"name\": {}, \"pid\": {}", json_text(counter.name), process);
    const char* const unit = counter.unit == CounterUnit::kBytes ? "bytes" : "percent";
    for (const CounterValue& value : counter.values) {
      const std::string at = microseconds_text(value.at.since_start());
      add(fmt::format("{}, \"ts\": {}, \"args\": {{\"{}\": {}}}}}", head, at, unit, value.value));
    }
  }
  return text + "\n]}\n";
}

}  // namespace ringwright::traces
