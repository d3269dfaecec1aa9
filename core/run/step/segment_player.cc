#include "core/run/step/segment_player.h"

#include <algorithm>

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

std::span<const SegmentPlayer::Ending> SegmentPlayer::begin(const Call& call) {
  endings_.clear();
  in_flight_[call.rank_class.index()] = {.state = State::kKnown,
                                         .task = call.task,
                                         .segment = call.segment,
                                         .host_behind = call.host_behind,
                                         .begin = job_.engine.now()};
  const std::span<const ClassId> members = times_.members(call.segment, call.rank_class);
  members.size() > 1 ? begin_with(call, members) : begin_alone(call);
  return endings_;
}

// What a call sends, whatever its timeline.
void SegmentPlayer::count(ClassId rank_class, const SegmentTimeline& traffic, Plays& plays) {
  const std::size_t c = rank_class.index();
  for (std::size_t d = 0; d < traffic.sent.size(); ++d) job_.sent[c][d] += traffic.sent[d];
  job_.messages[c] += traffic.messages;
  ++plays.count;
}

void SegmentPlayer::begin_alone(const Call& call) {
  const TimePoint now = job_.engine.now();
  const SegmentTimeline& timeline = times_.of(call.segment, call.rank_class, call.host_behind);
  Plays& plays = plays_of(call.rank_class, call.segment);
  if (plays.timeline == nullptr) plays.timeline = &times_.undisturbed(call.segment, call.rank_class);
  count(call.rank_class, timeline, plays);
  const bool late = &timeline != plays.timeline;
  in_flight_[call.rank_class.index()].late = late;
  if (late) {
    ++plays.late;
    calls_.add(timeline.calls);
  }
  job_.ledger.begin_profile(call.rank_class, timeline.profile, now);
  const TimePoint end = now + timeline.profile.length();
  endings_.push_back({.rank_class = call.rank_class, .task = call.task, .at = end, .late = late});
  if (timeline.links.empty()) return;
  if (!timeline.keeps_apart || !job_.network.set_aside(timeline.links, end)) disturbed_ = true;
}

// Its links are its own from now on; until when is known when all have begun.
void SegmentPlayer::begin_with(const Call& call, std::span<const ClassId> members) {
  Plays& plays = plays_of(call.rank_class, call.segment);
  if (plays.timeline == nullptr) plays.timeline = &times_.undisturbed(call.segment, call.rank_class);
  const SegmentTimeline& traffic = *plays.timeline;
  count(call.rank_class, traffic, plays);
  ++plays.late;  // its calls are counted with those of its timeline
  in_flight_[call.rank_class.index()].state = State::kAwaits;
  ++awaiting_;
  job_.ledger.await_profile(call.rank_class, job_.engine.now());
  if (!traffic.links.empty() && !job_.network.set_aside(traffic.links, TimePoint(kClockEnd))) disturbed_ = true;
  if (all_await(call.segment, members)) go_together(call.segment, members);
}

bool SegmentPlayer::all_await(std::uint32_t segment, std::span<const ClassId> members) const {
  return std::ranges::all_of(members, [&](ClassId c) {
    const InFlight& call = in_flight_[c.index()];
    return call.state == State::kAwaits && call.segment == segment;
  });
}

void SegmentPlayer::go_together(std::uint32_t segment, std::span<const ClassId> members) {
  const TimePoint now = job_.engine.now();
  starts_.clear();
  for (const ClassId c : members) {
    const InFlight& call = in_flight_[c.index()];
    starts_.push_back({.rank_class = c, .begin = call.begin - now, .host_behind = call.host_behind});
  }
  disturbed_ = !times_.go_together(segment, starts_) || disturbed_;
  for (const ClassId c : members) in_flight_[c.index()].late = times_.together(c).late;
  const std::uint64_t others = hash_of(members);
  for (const ClassId c : members) {
    InFlight& call = in_flight_[c.index()];
    const SegmentTimeline& timeline = times_.together(c);
    call.state = State::kKnown;
    call.others = others;
    --awaiting_;
    calls_.add(timeline.calls);
    job_.ledger.provide_profile(c, timeline.profile);
    const TimePoint end = call.begin + timeline.profile.length();
    if (end < now || !timeline.keeps_apart) disturbed_ = true;
    endings_.push_back({.rank_class = c, .task = call.task, .at = std::max(end, now), .late = call.late});
    job_.network.end_aside(plays_of(c, segment).timeline->links, end);
  }
}

// Relative to now. A host that is never late does not matter.
std::uint64_t SegmentPlayer::hash_of(std::span<const ClassId> members) const {
  std::uint64_t hash = 0;
  const TimePoint first = in_flight_[members.front().index()].begin;
  for (const ClassId c : members) {
    const InFlight& call = in_flight_[c.index()];
    const auto behind = static_cast<std::uint64_t>(call.late ? call.host_behind.count() : 0);
    hash = mix(mix(hash, behind), static_cast<std::uint64_t>((call.begin - first).count()));
  }
  return hash;
}

// The position of a host that awaits others is compared elsewhere (SteadyStateWatch).
std::uint64_t SegmentPlayer::digest(ClassId rank_class) const {
  const InFlight& call = in_flight_[rank_class.index()];
  if (call.state == State::kNone) return 0;
  // An undisturbed timeline is independent of how early the host was.
  const auto behind = static_cast<std::uint64_t>(call.late ? call.host_behind.count() : 0);
  const auto since = static_cast<std::uint64_t>((job_.engine.now() - call.begin).count());
  const std::uint64_t kind = (call.late ? 1U : 0U) + (call.state == State::kAwaits ? 2U : 0U);
  return mix(mix(mix(call.segment + 1, kind), call.others), mix(behind, since));
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
