#include "core/run/shortcuts/segment_times.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "core/base/check.h"
#include "core/plan/segments.h"

namespace ringwright {
namespace {

constexpr Duration kLongAgo(-(std::int64_t{1} << 60));  // 13 days before anything

// What segments use: streams besides the compute stream, and dimensions.
struct SegmentUse {
  std::set<StreamIndex> streams;
  std::set<DimensionId> dimensions;
  bool messages = false;
};

SegmentUse use_of(const Segment& segment) {
  SegmentUse use;
  for (const Task& task : segment.tasks) {
    if (task.stream != kComputeStream && task.stream != kNoStream) use.streams.insert(task.stream);
    if (task.kind == TaskKind::kCollective) use.dimensions.insert(task.dimension);
    use.messages = use.messages || task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive;
  }
  return use;
}

// Whether every call comes after all earlier tasks on the streams of its segment: a task of the compute stream up to
// the call depends on the last of them.
bool finds_streams_free(const Program& program, const std::vector<SegmentUse>& uses) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::array<std::uint32_t, kNoStream> last{};  // by stream: its last task that is not known to be done
  last.fill(kNone);
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    if (task.stream == kNoStream) continue;
    if (task.stream != kComputeStream) {
      last[task.stream] = i;
      continue;
    }
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const std::uint32_t before = program.dependencies[task.first_dependency + d];
      const StreamIndex stream = program.tasks[before].stream;
      if (stream != kNoStream && last[stream] == before) last[stream] = kNone;
    }
    if (task.kind != TaskKind::kSegment) continue;
    if (std::ranges::any_of(uses[task.detail].streams, [&](StreamIndex stream) { return last[stream] != kNone; })) {
      return false;
    }
  }
  return true;
}

bool is_among_equals(const TaskGraph& graph, const RankClasses& classes, ClassId c, DimensionId dimension) {
  const Dimension& d = graph.dimensions[dimension.index()];
  const std::vector<RankId>& group = d.groups[d.group_of[classes.representative[c.index()].index()]];
  return std::ranges::all_of(group, [&](RankId rank) { return classes.class_of[rank.index()] == c; });
}

// Calls of one collective take the same time: a formula gives it.
void count_call(const Task& task, Duration time, std::vector<CallTime>& calls) {
  const auto known = std::ranges::find_if(
      calls, [&task](const CallTime& call) { return call.dimension == task.dimension && call.spec == task.detail; });
  CallTime& call =
      known != calls.end()
          ? *known
          : calls.emplace_back(CallTime{.dimension = task.dimension, .spec = task.detail, .shortest = time});
  ++call.count;
  call.sum += time.count();
}

bool share_links(const RehearsedCall& a, const RehearsedCall& b) {
  return std::ranges::any_of(a.links, [&b](const RehearsedCall::Link& of_a) {
    return std::ranges::find(b.links, of_a.link, &RehearsedCall::Link::link) != b.links.end();
  });
}

void add_use(const RehearsedCall& call, SegmentTimeline& timeline) {
  const auto known = std::ranges::find(timeline.uses, &call, &SegmentTimeline::Use::call);
  if (known != timeline.uses.end()) {
    ++known->count;
    return;
  }
  timeline.uses.push_back({.call = &call, .count = 1});
  for (const RehearsedCall::Link& link : call.links) {
    if (std::ranges::find(timeline.links, link.link) == timeline.links.end()) timeline.links.push_back(link.link);
  }
}

}  // namespace

bool segments_stand_alone(const TaskGraph& graph, const RankClasses& classes) {
  std::vector<SegmentUse> uses;
  for (const Segment& segment : graph.segments) uses.push_back(use_of(segment));
  if (std::ranges::any_of(uses, &SegmentUse::messages)) return false;
  std::vector<std::set<DimensionId>> dimensions;  // by program: of the segments that it calls
  for (const Program& program : graph.programs) {
    if (!finds_streams_free(program, uses)) return false;
    std::set<DimensionId>& used = dimensions.emplace_back();
    const std::vector<std::uint32_t> calls = count_calls(graph, program);
    for (std::size_t segment = 0; segment < calls.size(); ++segment) {
      if (calls[segment] > 0) used.insert(uses[segment].dimensions.begin(), uses[segment].dimensions.end());
    }
  }
  for (std::size_t c = 0; c < classes.count(); ++c) {
    for (const DimensionId dimension : dimensions[graph.program_of[classes.representative[c].index()].index()]) {
      if (!is_among_equals(graph, classes, ClassId(c), dimension)) return false;
    }
  }
  return true;
}

SegmentTimes::SegmentTimes(const Inputs& inputs)
    : inputs_(inputs),
      timelines_(inputs.classes.count() * inputs.graph.segments.size(), nullptr),
      scratch_(inputs.classes.count()) {
  for (const Work& work : inputs.graph.works) issue_time_.push_back(issue_time(inputs.compute, work));
}

const SegmentTimeline& SegmentTimes::of(std::uint32_t segment, ClassId rank_class, Duration host_behind) {
  Timelines& timelines = timelines_of(segment, rank_class);
  if (host_behind + timelines.undisturbed.host_lead <= Duration(0)) return timelines.undisturbed;
  const auto known = timelines.late.find(host_behind);
  if (known != timelines.late.end()) return known->second;
  const bool keep = kept_ < kKept;
  if (keep) ++kept_;
  SegmentTimeline& late = keep ? timelines.late[host_behind] : scratch_[rank_class.index()];
  late = follow(inputs_.graph.segments[segment], rank_class, host_behind);
  return late;
}

const SegmentTimeline& SegmentTimes::undisturbed(std::uint32_t segment, ClassId rank_class) {
  return timelines_of(segment, rank_class).undisturbed;
}

SegmentTimes::Timelines& SegmentTimes::timelines_of(std::uint32_t segment, ClassId rank_class) {
  Timelines*& timelines = timelines_[rank_class.index() * inputs_.graph.segments.size() + segment];
  if (timelines != nullptr) return *timelines;
  const auto [entry, is_new] = known_.try_emplace(circumstances(segment, rank_class));
  if (is_new) entry->second.undisturbed = follow(inputs_.graph.segments[segment], rank_class, kLongAgo);
  timelines = &entry->second;
  return *timelines;
}

std::vector<std::uint64_t> SegmentTimes::circumstances(std::uint32_t segment, ClassId rank_class) const {
  const TaskGraph& graph = inputs_.graph;
  if (inputs_.rehearsed != nullptr) return {segment, rank_class.value};
  const RankId rank = inputs_.classes.representative[rank_class.index()];
  const double slowdown = graph.compute_slowdown.empty() ? 1.0 : graph.compute_slowdown[rank.index()];
  std::vector<std::uint64_t> key = {segment, std::bit_cast<std::uint64_t>(slowdown)};
  for (const Dimension& d : graph.dimensions) key.push_back(d.layout_of_group[d.group_of[rank.index()]]);
  return key;
}

const RehearsedCall& SegmentTimes::call_of(const Task& collective, ClassId rank_class) {
  if (inputs_.rehearsed != nullptr) {
    const RehearsedCall* call = inputs_.rehearsed->find(rank_class, collective.dimension, collective.detail);
    CHECK(call != nullptr, "collectives of segments were rehearsed");
    return *call;
  }
  const Dimension& d = inputs_.graph.dimensions[collective.dimension.index()];
  const std::uint32_t layout =
      d.layout_of_group[d.group_of[inputs_.classes.representative[rank_class.index()].index()]];
  const auto [entry, is_new] = formulas_.try_emplace({collective.detail, layout, collective.dimension.value});
  if (!is_new) return entry->second;
  const CollectiveSpec& spec = inputs_.graph.collectives[collective.detail];
  const CollectiveCall call{.kind = spec.kind,
                            .bytes = spec.bytes,
                            .layout = &inputs_.graph.layouts[layout],
                            .dimension = collective.dimension};
  entry->second = {.time = inputs_.collective_time->time(call), .sent = inputs_.collective_time->sent(call)};
  return entry->second;
}

Duration SegmentTimes::compute_time(const Task& task, RankId rank) const {
  const Duration time = inputs_.work_duration[task.detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[rank.index()]);
}

// As the executor simulates: a task begins when its stream is free, its dependencies have ended, and the host has
// issued it; computing ends no earlier than it is issued.
SegmentTimeline SegmentTimes::follow(const Segment& segment, ClassId rank_class, Duration host_behind) {
  const RankId rank = inputs_.classes.representative[rank_class.index()];
  const auto size = static_cast<std::uint32_t>(segment.tasks.size());
  ends_.resize(size);
  parts_.clear();
  std::vector<ActivityProfile::Change> changes;
  changes.reserve(std::size_t{2} * size);
  std::array<Duration, kNoStream> stream_free{};
  SegmentTimeline timeline{
      .profile = {}, .sent = std::vector<Bytes>(inputs_.graph.dimensions.size()), .host_lead = kLongAgo};
  Duration issued;  // since the host began
  for (std::uint32_t i = 0; i < size; ++i) {
    const Task& task = segment.tasks[i];
    Duration begin = task.stream == kNoStream ? Duration(0) : stream_free[task.stream];
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const std::uint32_t before = segment.dependencies[task.first_dependency + d];
      if (before < size) begin = std::max(begin, ends_[before]);
    }
    const bool computes = task.kind == TaskKind::kCompute;
    const RehearsedCall* const call = computes ? nullptr : &call_of(task, rank_class);
    const Duration time = computes ? compute_time(task, rank) : call->time;
    issued += computes ? issue_time_[task.detail] : inputs_.compute.call_issue_time();
    const Duration latest = computes ? begin + time : begin;  // latest issue time to begin now
    timeline.host_lead = std::max(timeline.host_lead, issued - latest);
    begin += std::max(host_behind + issued - latest, Duration(0));
    ends_[i] = begin + time;
    if (task.stream != kNoStream) stream_free[task.stream] = ends_[i];
    if (!computes) {
      timeline.sent[task.dimension.index()] += call->sent;
      timeline.messages += call->messages;
      count_call(task, time, timeline.calls);
      parts_.push_back({.begin = begin, .end = ends_[i], .call = call});
    }
    const auto bit = static_cast<std::uint8_t>(computes ? 0 : 1 + task.dimension.index());
    changes.push_back({.at = begin, .bit = bit, .begins = true});
    changes.push_back({.at = ends_[i], .bit = bit, .begins = false});
  }
  timeline.profile = ActivityProfile(std::move(changes), ends_.back());
  if (inputs_.rehearsed != nullptr) add_uses(parts_, timeline);
  return timeline;
}

void SegmentTimes::add_uses(std::vector<RehearsedUse>& parts, SegmentTimeline& timeline) {
  std::ranges::sort(parts, {}, &RehearsedUse::begin);
  std::vector<const RehearsedCall*> in_flight;
  std::vector<Duration> until;  // of each of them
  for (const RehearsedUse& part : parts) {
    for (std::size_t i = in_flight.size(); i-- > 0;) {
      if (until[i] > part.begin) {
        timeline.keeps_apart = timeline.keeps_apart && !share_links(*in_flight[i], *part.call);
        continue;
      }
      in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(i));
      until.erase(until.begin() + static_cast<std::ptrdiff_t>(i));
    }
    in_flight.push_back(part.call);
    until.push_back(part.end);
    add_use(*part.call, timeline);
  }
}

}  // namespace ringwright
