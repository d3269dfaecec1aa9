#include "core/run/shortcuts/pass_follower.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/run/job/host_clock.h"
#include "core/run/job/job_groups.h"
#include "core/run/alone/lone_calls.h"

namespace ringwright {
namespace {

constexpr Duration kNeverLate(-(std::int64_t{1} << 60));  // 13 days before anything

void count_call(const Task& task, Duration time, std::vector<CallTime>& calls) {
  const auto known = std::ranges::find_if(
      calls, [&task](const CallTime& call) { return call.dimension == task.dimension && call.spec == task.detail; });
  CallTime& call =
      known != calls.end()
          ? *known
          : calls.emplace_back(CallTime{.dimension = task.dimension, .spec = task.detail, .shortest = time});
  ++call.count;
  call.sum += time.count();
  call.shortest = std::min(call.shortest, time);
}

// Of members of a lone call but for the first, which uses them for all.
const std::vector<UsedLink> kNoLinks;

bool share_links(const std::vector<UsedLink>& a, const std::vector<UsedLink>& b) {
  return std::ranges::any_of(a, [&b](const UsedLink& of_a) {
    return std::ranges::find(b, of_a.link, &UsedLink::link) != b.end();
  });
}

void add_use(const std::vector<UsedLink>& links, SegmentTimeline& timeline) {
  const auto known = std::ranges::find(timeline.uses, &links, &SegmentTimeline::Use::links);
  if (known != timeline.uses.end()) {
    ++known->count;
    return;
  }
  timeline.uses.push_back({.links = &links, .count = 1});
  for (const UsedLink& link : links) {
    if (std::ranges::find(timeline.links, link.link) == timeline.links.end()) timeline.links.push_back(link.link);
  }
}

}  // namespace

SentOn sent_on(const Task& task, const MessageSpec& spec, std::size_t members) {
  const int offset = task.kind == TaskKind::kSend ? spec.peer % static_cast<int>(members) : spec.offset_back(members);
  return {.dimension = task.dimension, .offset = offset, .channel = spec.channel};
}

PassFollower::PassFollower(const PassInputs& inputs) : inputs_(inputs), member_of_(inputs.classes.count()) {
  for (const Work& work : inputs.graph.works) issue_time_.push_back(issue_time(inputs.compute, work));
}

bool PassFollower::follow(const Segment& segment, std::span<const PassStart> starts,
                          std::span<SegmentTimeline* const> timelines, Detail detail) {
  const auto tasks = static_cast<std::uint32_t>(segment.tasks.size());
  count_ = starts.size();
  if (members_.size() < count_) members_.resize(count_);
  for (std::size_t m = 0; m < count_; ++m) {
    set_out(starts[m], tasks, *timelines[m], members_[m]);
    member_of_[starts[m].rank_class.index()] = static_cast<std::uint32_t>(m);
  }
  bool all_join = true;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const Task& task = segment.tasks[i];
    for (std::size_t m = 0; m < count_; ++m) begin_task(segment, i, members_[m]);
    if (task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive) {
      for (std::size_t m = 0; m < count_; ++m) end_message(task, members_[m]);
      continue;
    }
    if (task.kind != TaskKind::kCompute) {
      all_join = end_collective(task) && all_join;
      continue;
    }
    for (std::size_t m = 0; m < count_; ++m) {
      Member& member = members_[m];
      end_task(task, member.begin + compute_time(task, member.rank), member.begin, member);
    }
  }
  for (std::size_t m = 0; m < count_; ++m) {
    Member& member = members_[m];
    member.timeline->profile = ActivityProfile(std::move(member.changes), member.ends.back());
    if (inputs_.rehearsed != nullptr) add_uses(member, detail);
  }
  return all_join;
}

void PassFollower::set_out(const PassStart& start, std::size_t tasks, SegmentTimeline& timeline,
                           Member& member) const {
  member.start = start;
  member.rank = inputs_.classes.representative[start.rank_class.index()];
  member.timeline = &timeline;
  member.ends.clear();
  member.stream_free.clear();
  member.issued = Duration();
  member.changes.clear();
  member.changes.reserve(2 * tasks);
  member.parts.clear();
  member.arrivals.clear();
  timeline.sent.assign(inputs_.graph.dimensions.size(), Bytes());
  timeline.calls.clear();
  timeline.host_lead = kNeverLate;
  timeline.late = false;
  timeline.messages = 0;
  timeline.links.clear();
  timeline.uses.clear();
  timeline.keeps_apart = true;
  timeline.as_kernels = false;
  timeline.uses_from = timeline.uses_until = Duration();
}

void PassFollower::begin_task(const Segment& segment, std::uint32_t number, Member& member) {
  const Task& task = segment.tasks[number];
  Duration begin;
  if (task.stream != kNoStream) {
    if (task.stream >= member.stream_free.size()) member.stream_free.resize(task.stream + std::size_t{1});
    begin = member.stream_free[task.stream];
  }
  for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
    const std::uint32_t before = segment.dependencies[task.first_dependency + d];
    if (before < segment.tasks.size()) begin = std::max(begin, member.ends[before]);
  }
  const bool computes = task.kind == TaskKind::kCompute;
  const bool receives = task.kind == TaskKind::kReceive;
  member.call = computes || receives ? nullptr : &call_of(task, member.start.rank_class);
  member.issued += computes ? issue_time_[task.detail] : call_issue_time(inputs_.compute, inputs_.graph, task);
  if (receives) {  // by kernels, whether or not the host has got there
    member.begin = std::max(begin, next_arrival(task, member));
    return;
  }
  const Duration latest = computes ? begin + compute_time(task, member.rank) : begin;  // issue time to begin now
  SegmentTimeline& timeline = *member.timeline;
  timeline.host_lead = std::max(timeline.host_lead, member.issued - latest);
  const Duration late = member.start.host_behind + member.issued - latest;
  timeline.late = timeline.late || late > Duration(0);
  member.begin = begin + std::max(late, Duration(0));
}

void PassFollower::end_task(const Task& task, Duration end, Duration busy_from, Member& member) {
  member.ends.push_back(end);
  if (task.stream != kNoStream) member.stream_free[task.stream] = end;
  const bool computes = task.kind == TaskKind::kCompute;
  const auto bit = static_cast<std::uint8_t>(computes ? 0 : 1 + task.dimension.index());
  member.changes.push_back({.at = busy_from, .bit = bit, .begins = true});
  member.changes.push_back({.at = end, .bit = bit, .begins = false});
}

void PassFollower::end_communication(const Task& task, Duration end, Duration busy_from, const RehearsedUse& use,
                                     Member& member) {
  end_task(task, end, busy_from, member);
  SegmentTimeline& timeline = *member.timeline;
  timeline.sent[task.dimension.index()] += use.sent;
  timeline.messages += use.messages;
  if (task.kind == TaskKind::kCollective) count_call(task, end - member.begin, timeline.calls);
  member.parts.push_back(use);
}

// Of the current call as rehearsed.
PassFollower::RehearsedUse PassFollower::whole_use(Duration end, const Member& member) {
  const RehearsedCall& call = *member.call;
  return {.begin = member.begin, .end = end, .links = &call.links, .sent = call.sent, .messages = call.messages};
}

Duration PassFollower::next_arrival(const Task& receive, Member& member) const {
  Arrivals& arrivals = member.arrivals[channel_of(receive)];
  return arrivals.at[arrivals.received++];
}

SentOn PassFollower::channel_of(const Task& message) const {
  const std::size_t members = inputs_.graph.dimensions[message.dimension.index()].groups.front().size();
  return sent_on(message, inputs_.graph.messages[message.detail], members);
}

// Of a message that has been sent now, or that has arrived.
void PassFollower::end_message(const Task& task, Member& member) const {
  if (task.kind == TaskKind::kReceive) {
    member.ends.push_back(member.begin);
    return;
  }
  const Duration arrives = member.begin + member.call->time;
  member.arrivals[channel_of(task)].at.push_back(arrives);
  end_communication(task, arrives, member.begin, whole_use(arrives, member), member);
}

// By all members, which have begun it.
bool PassFollower::end_collective(const Task& task) {
  bool all_join = true;
  for (std::size_t m = 0; m < count_; ++m) {
    Member& member = members_[m];
    if (member.call->lone != nullptr) {
      if (member.call->member == 0) all_join = end_lone(task, *member.call->lone) && all_join;
    } else if (member.call->ring == RehearsedCall::kNoRing) {
      const Duration end = member.begin + member.call->time;
      end_communication(task, end, member.begin, whole_use(end, member), member);
    } else if (member.call->edge == 0) {
      all_join = end_ring(task, inputs_.rehearsed->rings[member.call->ring]) && all_join;
    }
  }
  return all_join;
}

bool PassFollower::end_ring(const Task& task, const RehearsedRing& ring) {
  const std::size_t edges = ring.edges.size();
  arrived_.resize(edges);
  Duration joined = kNeverLate;  // all have
  for (std::size_t edge = 0; edge < edges; ++edge) {
    const Member& member = members_[member_of_[ring.edges[edge].rank_class.index()]];
    const Duration calls = member.start.begin + member.begin;
    joined = std::max(joined, calls);
    arrived_[edge] = calls + ring.overhead;
  }
  move_messages(ring);
  bool all_join = true;
  for (std::size_t edge = 0; edge < edges; ++edge) {
    Member& member = members_[member_of_[ring.edges[edge].rank_class.index()]];
    const Duration end = std::max(arrived_[edge], arrived_[(edge + edges - 1) % edges]);
    all_join = all_join && end > joined;
    const Duration own_end = end - member.start.begin;
    end_communication(task, own_end, std::min(joined, end) - member.start.begin, whole_use(own_end, member), member);
  }
  return all_join;
}

// A call as kernels run it, from the moments at which its members call it.
bool PassFollower::end_lone(const Task& task, LoneCall& call) {
  const auto member_at = [&](std::size_t place) -> Member& {
    return members_[member_of_[call.order.members[place].index()]];
  };
  starts_.clear();
  for (std::size_t place = 0; place < call.order.members.size(); ++place) {
    starts_.push_back(member_at(place).start.begin + member_at(place).begin);
  }
  const Duration first = std::ranges::min(starts_);
  const Duration joined = std::ranges::max(starts_);
  for (Duration& start : starts_) start -= first;
  const LonePlay* play = inputs_.rehearsed->lone->play(call, starts_);
  CHECK(play != nullptr, "a call that ends when its members start together ends whenever they start");
  bool all_join = true;
  for (std::size_t place = 0; place < call.order.members.size(); ++place) {
    Member& member = member_at(place);
    const Duration end = first + play->ends[place];
    all_join = all_join && end > joined;
    // The first member uses the links for all.
    const Duration begin = member.start.begin;
    const RehearsedUse use{.begin = first - begin,
                           .end = first + play->over - begin,
                           .links = place == 0 ? &play->links : &kNoLinks,
                           .sent = play->sent[place],
                           .messages = play->messages[place]};
    end_communication(task, end - begin, std::min(joined, end) - begin, use, member);
    member.timeline->as_kernels = true;
  }
  return all_join;
}

// From the moments at which the edges' first messages leave to those at which their last ones arrive.
void PassFollower::move_messages(const RehearsedRing& ring) {
  const std::size_t edges = ring.edges.size();
  arrives_.resize(edges);
  for (std::uint32_t message = 0; message < ring.repeats; ++message) {
    for (std::size_t i = 0; i < edges; ++i) {
      const RehearsedRing::Edge& edge = ring.edges[i];
      const auto sizes = static_cast<std::uint32_t>(edge.times.size());
      const Duration time =
          sizes == 1 ? edge.times.front() : edge.times[(edge.first + sizes - message % sizes) % sizes];
      const Duration before = message == 0 ? arrived_[i] : arrived_[(i + edges - 1) % edges];
      arrives_[i] = std::max(arrived_[i], before) + time;
    }
    std::swap(arrived_, arrives_);
  }
}

void PassFollower::add_uses(Member& member, Detail detail) {
  std::vector<RehearsedUse>& parts = member.parts;
  SegmentTimeline& timeline = *member.timeline;
  std::ranges::sort(parts, {}, &RehearsedUse::begin);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size() && parts[j].begin < parts[i].end; ++j) {
      timeline.keeps_apart = timeline.keeps_apart && !share_links(*parts[i].links, *parts[j].links);
    }
    if (detail == Detail::kTraffic) add_use(*parts[i].links, timeline);
  }
  if (parts.empty() || !timeline.as_kernels) return;
  timeline.uses_from = parts.front().begin;
  timeline.uses_until = std::ranges::max(parts, {}, &RehearsedUse::end).end;
}

const RehearsedCall& PassFollower::call_of(const Task& collective, ClassId rank_class) {
  if (inputs_.rehearsed != nullptr) {
    const RehearsedCall* call = inputs_.rehearsed->find(rank_class, collective);
    CHECK(call != nullptr, "collectives of segments were rehearsed");
    return *call;
  }
  const JobGroups groups{.graph = inputs_.graph, .classes = inputs_.classes};
  const std::uint32_t layout = groups.layout_of(rank_class, collective.dimension);
  const auto [entry, is_new] = formulas_.try_emplace({collective.detail, layout, collective.dimension.value});
  if (!is_new) return entry->second;
  const CollectiveCall call = groups.call_of(rank_class, collective);
  entry->second.time = inputs_.collective_time->time(call);
  entry->second.sent = inputs_.collective_time->sent(call);
  return entry->second;
}

Duration PassFollower::compute_time(const Task& task, RankId rank) const {
  const Duration time = inputs_.work_duration[task.detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[rank.index()]);
}

}  // namespace ringwright
