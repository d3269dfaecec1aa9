#include "core/run/step/segment_player.h"

#include "core/base/random.h"

namespace ringwright {

SegmentPlayer::SegmentPlayer(PlayedJob& job, CallTimes& calls, const ExecutorInputs& inputs,
                             const PlayedPrograms& programs)
    : job_(job),
      calls_(calls),
      times_({.graph = inputs.graph,
              .classes = inputs.classes,
              .work_duration = programs.work_duration,
              .compute = inputs.compute,
              .collective_time = inputs.collective_time,
              .rehearsed = inputs.rehearsed}),
      rehearsed_(inputs.rehearsed != nullptr),
      plays_(inputs.classes.count() * inputs.graph.segments.size()),
      in_flight_(inputs.classes.count()) {}

Duration SegmentPlayer::begin(ClassId rank_class, std::uint32_t segment, Duration host_behind) {
  const std::size_t c = rank_class.index();
  const TimePoint now = job_.engine.now();
  const SegmentTimeline& timeline = times_.of(segment, rank_class, host_behind);
  const Duration time = timeline.profile.length();
  for (std::size_t d = 0; d < timeline.sent.size(); ++d) job_.sent[c][d] += timeline.sent[d];
  job_.messages[c] += timeline.messages;
  Plays& plays = plays_[c * job_.graph.segments.size() + segment];
  if (plays.timeline == nullptr) plays.timeline = &times_.undisturbed(segment, rank_class);
  ++plays.count;
  const bool late = &timeline != plays.timeline;
  in_flight_[c] = {.active = true, .late = late, .segment = segment, .host_behind = host_behind, .begin = now};
  if (late) {
    ++plays.late;
    calls_.add(timeline.calls);
  }
  job_.ledger.begin_profile(rank_class, timeline.profile, now);
  if (timeline.links.empty()) return time;
  if (!timeline.keeps_apart || !job_.network.set_aside(timeline.links, now + time)) meets_others_ = true;
  return time;
}

std::uint64_t SegmentPlayer::digest(ClassId rank_class) const {
  const InFlight& call = in_flight_[rank_class.index()];
  if (!call.active) return 0;
  // An undisturbed timeline is independent of how early the host was.
  const auto behind = static_cast<std::uint64_t>(call.late ? call.host_behind.count() : 0);
  const auto since = static_cast<std::uint64_t>((job_.engine.now() - call.begin).count());
  return mix(mix(call.segment + 1, call.late ? 1 : 0), mix(behind, since));
}

void SegmentPlayer::add_calls(CallTimes& calls) const {
  for (const Plays& plays : plays_) {
    if (plays.count > plays.late) calls.add(plays.timeline->calls, plays.count - plays.late);
  }
}

std::vector<LinkUsage> SegmentPlayer::with_usage(std::vector<LinkUsage> usage) const {
  for (const Plays& plays : plays_) {
    if (plays.count == 0) continue;
    for (const SegmentTimeline::Use& use : plays.timeline->uses) {
      const std::uint64_t times = plays.count * use.count;
      for (const RehearsedCall::Link& of_call : use.call->links) {
        LinkUsage& link = usage[of_call.link.index()];
        link.bytes += of_call.usage.bytes * static_cast<double>(times);
        link.busy += of_call.usage.busy * static_cast<std::int64_t>(times);
      }
    }
  }
  return usage;
}

}  // namespace ringwright
