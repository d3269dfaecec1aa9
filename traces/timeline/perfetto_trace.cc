// Writes a timeline in Perfetto's protobuf: a process for each rank, a thread for each of its streams, a counter track
// for its memory; counter tracks for the links.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <schemas/traces/timeline/perfetto.pb.h>

#include "traces/timeline/counters.h"
#include "traces/timeline/timeline.h"

namespace ringwright::traces {
namespace {

namespace perfetto = schemas::perfetto;

constexpr std::uint32_t kSequence = 1;

class PerfettoWriter final {
 public:
  explicit PerfettoWriter(const Timeline& timeline) : timeline_(timeline) {}

  [[nodiscard]] std::string write() {
    write_names();
    for (std::size_t rank = 0; rank < timeline_.ranks.size(); ++rank) write_rank(rank);
    for (std::size_t track = 0; track < timeline_.tracks.size(); ++track) write_track(track);
    for (const TimelineSlice& slice : timeline_.slices) {
      write_begin(slice);
      write_end(slice);
    }
    write_counters();
    return std::move(bytes_);
  }

 private:
  // Identities of ranks come before those of tracks.
  [[nodiscard]] static std::uint64_t identity_of_rank(std::size_t rank) { return rank + 1; }
  [[nodiscard]] std::uint64_t identity_of_track(std::size_t track) const { return timeline_.ranks.size() + track + 1; }

  [[nodiscard]] static std::uint64_t nanoseconds(TimePoint at) {
    return static_cast<std::uint64_t>((at.since_start().count() + 500) / 1000);
  }

  [[nodiscard]] std::int32_t process_of(std::size_t rank) const {
    // Process 0 is the idle process for viewers.
    return static_cast<std::int32_t>(timeline_.ranks[rank].rank.value) + 1;
  }

  void write_names() {
    packet_.Clear();
    packet_.set_sequence_flags(1);
    for (std::size_t i = 0; i < timeline_.names.size(); ++i) {
      perfetto::EventName* const name = packet_.mutable_interned_data()->add_event_names();
      name->set_iid(i + 1);
      name->set_name(timeline_.names[i]);
    }
    append();
  }

  void write_rank(std::size_t rank) {
    packet_.Clear();
    perfetto::TrackDescriptor& track = *packet_.mutable_track_descriptor();
    track.set_uuid(identity_of_rank(rank));
    track.mutable_process()->set_pid(process_of(rank));
    track.mutable_process()->set_process_name(
        fmt::format("rank {} ({})", timeline_.ranks[rank].rank.value, timeline_.ranks[rank].role));
    append();
  }

  void write_track(std::size_t index) {
    packet_.Clear();
    const TimelineTrack& of = timeline_.tracks[index];
    perfetto::TrackDescriptor& track = *packet_.mutable_track_descriptor();
    track.set_uuid(identity_of_track(index));
    track.set_parent_uuid(identity_of_rank(of.rank));
    track.mutable_thread()->set_pid(process_of(of.rank));
    track.mutable_thread()->set_tid(static_cast<std::int32_t>(index) + 1);
    track.mutable_thread()->set_thread_name(of.name);
    append();
  }

  perfetto::TrackEvent& begin_event(TimePoint at, std::uint32_t track, perfetto::TrackEvent::Type type) {
    packet_.Clear();
    packet_.set_timestamp(nanoseconds(at));
    packet_.set_sequence_flags(2);
    perfetto::TrackEvent& event = *packet_.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(identity_of_track(track));
    return event;
  }

  void write_begin(const TimelineSlice& slice) {
    perfetto::TrackEvent& event = begin_event(slice.start, slice.track, perfetto::TrackEvent::SLICE_BEGIN);
    event.set_name_iid(slice.name + 1);
    event.add_categories(std::string(to_string(slice.kind)));
    if (slice.flow != 0) event.add_flow_ids(slice.flow);
    const auto annotate = [&event](const char* name, std::int64_t value) {
      perfetto::DebugAnnotation* const annotation = event.add_debug_annotations();
      annotation->set_name(name);
      annotation->set_int_value(value);
    };
    if (slice.kind != SliceKind::kCompute) annotate("bytes", slice.bytes.count());
    if (slice.iteration > 0) annotate("step", slice.iteration);
    append();
  }

  void write_end(const TimelineSlice& slice) {
    begin_event(slice.end, slice.track, perfetto::TrackEvent::SLICE_END);
    append();
  }

  // All counters of the fabric are tracks below one, "links".
  void write_counters() {
    const std::vector<TimelineCounter> counters = counters_of(timeline_);
    const std::uint64_t links = timeline_.ranks.size() + timeline_.tracks.size() + 1;
    if (timeline_.links) {
      packet_.Clear();
      packet_.mutable_track_descriptor()->set_uuid(links);
      packet_.mutable_track_descriptor()->set_name("links");
      append();
    }
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const TimelineCounter& counter = counters[i];
      const std::uint64_t uuid = links + 1 + i;
      packet_.Clear();
      perfetto::TrackDescriptor& track = *packet_.mutable_track_descriptor();
      track.set_uuid(uuid);
      track.set_name(counter.name);
      track.set_parent_uuid(counter.rank ? identity_of_rank(*counter.rank) : links);
      if (counter.unit == CounterUnit::kBytes) {
        track.mutable_counter()->set_unit(perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
      } else {
        track.mutable_counter()->set_unit_name("%");
      }
      append();
      for (const CounterValue& value : counter.values) write_value(uuid, counter.unit, value);
    }
  }

  void write_value(std::uint64_t track, CounterUnit unit, const CounterValue& value) {
    packet_.Clear();
    packet_.set_timestamp(nanoseconds(value.at));
    packet_.set_sequence_flags(2);
    perfetto::TrackEvent& event = *packet_.mutable_track_event();
    event.set_type(perfetto::TrackEvent::COUNTER);
    event.set_track_uuid(track);
    switch (unit) {
      case CounterUnit::kBytes: event.set_counter_value(std::llround(value.value)); break;
      case CounterUnit::kPercent: event.set_double_counter_value(value.value); break;
    }
    append();
  }

  // As an element of Trace: its key, its length, its bytes.
  void append() {
    packet_.set_trusted_packet_sequence_id(kSequence);
    constexpr char kPacketKey = 0x0A;
    bytes_ += kPacketKey;
    std::size_t length = packet_.ByteSizeLong();
    while (length >= 0x80) {
      bytes_ += static_cast<char>((length & 0x7F) | 0x80);
      length >>= 7U;
    }
    bytes_ += static_cast<char>(length);
    packet_.AppendToString(&bytes_);
  }

  const Timeline& timeline_;
  perfetto::TracePacket packet_;
  std::string bytes_;
};

}  // namespace

std::string perfetto_trace(const Timeline& timeline) {
  return PerfettoWriter(timeline).write();
}

}  // namespace ringwright::traces
