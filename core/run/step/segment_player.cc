#include "core/run/step/segment_player.h"

#include <algorithm>
#include <utility>

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

void SegmentPlayer::count(ClassId rank_class, const SegmentTimeline& traffic) {
  const std::size_t c = rank_class.index();
  for (std::size_t d = 0; d < traffic.sent.size(); ++d) job_.sent[c][d] += traffic.sent[d];
  job_.messages[c] += traffic.messages;
}

void SegmentPlayer::begin_alone(const Call& call) {
  const TimePoint now = job_.engine.now();
  const SegmentTimeline& timeline = times_.of(call.segment, call.rank_class, call.host_behind);
  Plays& plays = plays_of(call.rank_class, call.segment);
  if (plays.timeline == nullptr) plays.timeline = &times_.undisturbed(call.segment, call.rank_class);
  count(call.rank_class, timeline);
  ++plays.count;
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
  const TimePoint until = std::max(end, now + timeline.uses_until);
  if (!timeline.keeps_apart || !job_.network.set_aside(timeline.links, until)) disturbed_.insert(call.rank_class);
}

// Its links are its own from now on; until when is known when all have begun.
void SegmentPlayer::begin_with(const Call& call, std::span<const ClassId> members) {
  Plays& plays = plays_of(call.rank_class, call.segment);
  if (plays.timeline == nullptr) plays.timeline = &times_.undisturbed(call.segment, call.rank_class);
  const SegmentTimeline& traffic = *plays.timeline;
  if (traffic.as_kernels) {
    if (!any_awaits(members)) reserve_for_all(call.segment, members);
  } else {
    count(call.rank_class, traffic);
    ++plays.count;
    ++plays.late;  // its calls are counted with those of its timeline
    if (!traffic.links.empty() && !job_.network.set_aside(traffic.links, TimePoint(kClockEnd))) {
      disturbed_.insert(members.begin(), members.end());
    }
  }
  in_flight_[call.rank_class.index()].state = State::kAwaits;
  ++awaiting_;
  job_.ledger.await_profile(call.rank_class, job_.engine.now());
  if (all_await(call.segment, members)) go_together(call.segment, members);
}

bool SegmentPlayer::any_awaits(std::span<const ClassId> members) const {
  return std::ranges::any_of(members, [&](ClassId c) { return in_flight_[c.index()].state == State::kAwaits; });
}

// The first member begins. Others may still be in the pass before, whose links are theirs.
void SegmentPlayer::reserve_for_all(std::uint32_t segment, std::span<const ClassId> members) {
  Kept& kept = kept_[members.front()];
  std::vector<LinkId> links;
  std::vector<LinkId> fresh;
  for (const ClassId c : members) {
    const std::vector<LinkId>& own = times_.undisturbed(segment, c).links;
    links.insert(links.end(), own.begin(), own.end());
  }
  const bool in_use = kept.until > job_.engine.now();
  for (const LinkId link : links) {
    if (!in_use || std::ranges::find(kept.links, link) == kept.links.end()) fresh.push_back(link);
  }
  if (!job_.network.set_aside(fresh, TimePoint(kClockEnd))) disturbed_.insert(members.begin(), members.end());
  job_.network.end_aside(links, TimePoint(kClockEnd));
  kept.links = std::move(links);
}

// All have begun.
void SegmentPlayer::end_reservation(std::span<const ClassId> members) {
  Kept& kept = kept_[members.front()];
  TimePoint until;
  for (const ClassId c : members) {
    const TimePoint begin = in_flight_[c.index()].begin;
    const SegmentTimeline& timeline = times_.together(c);
    if (!timeline.links.empty() && begin + timeline.uses_from < kept.until) disturbed_.insert(c);
    until = std::max(until, begin + timeline.uses_until);
  }
  kept.until = until;
  job_.network.end_aside(kept.links, until);
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
  if (!times_.go_together(segment, starts_)) disturbed_.insert(members.begin(), members.end());
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
    if (end < now || !timeline.keeps_apart) disturbed_.insert(c);
    endings_.push_back({.rank_class = c, .task = call.task, .at = std::max(end, now), .late = call.late});
    if (timeline.as_kernels) {
      count(c, timeline);
      for (const SegmentTimeline::Use& use : timeline.uses) traffic_.add(*use.links, use.count);
    } else {
      job_.network.end_aside(plays_of(c, segment).timeline->links, end);
    }
  }
  if (times_.together(members.front()).as_kernels) end_reservation(members);
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

std::vector<ClassId> SegmentPlayer::disturbed() const {
  std::set<ClassId> disturbed;
  const auto add_members = [&](std::uint32_t segment, ClassId c) {
    const std::span<const ClassId> members = times_.members(segment, c);
    disturbed.insert(c);
    disturbed.insert(members.begin(), members.end());
  };
  const std::size_t segments = job_.graph.segments.size();
  for (std::size_t c = 0; c < in_flight_.size(); ++c) {
    for (std::uint32_t segment = 0; segment < segments; ++segment) {
      const SegmentTimeline* const timeline = plays_[c * segments + segment].timeline;
      if (timeline == nullptr) continue;
      if (disturbed_.contains(ClassId(c)) || job_.network.trespassed_on(timeline->links, TimePoint())) {
        add_members(segment, ClassId(c));
      }
    }
  }
  return {disturbed.begin(), disturbed.end()};
}

std::vector<LinkUsage> SegmentPlayer::with_usage(std::vector<LinkUsage> usage) const {
  for (const Plays& plays : plays_) {
    if (plays.count == 0) continue;
    for (const SegmentTimeline::Use& use : plays.timeline->uses) {
      add_traffic(*use.links, plays.count * use.count, usage);
    }
  }
  traffic_.add_to(usage);
  return usage;
}

}  // namespace ringwright
