// Writes a timeline in Perfetto's protobuf: a process for each rank, a thread for each of its streams.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <schemas/traces/timeline/perfetto.pb.h>

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
    return std::move(bytes_);
  }

 private:
  // Identities of ranks come before those of tracks.
  [[nodiscard]] static std::uint64_t identity_of_rank(std::size_t rank) { return rank + 1; }
  [[nodiscard]] std::uint64_t identity_of_track(std::size_t track) const { return timeline_.ranks.size() + track + 1; }

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
    packet_.set_timestamp(static_cast<std::uint64_t>((at.since_start().count() + 500) / 1000));
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
