#include "core/run/shortcuts/segment_times.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "core/plan/segments.h"

namespace ringwright {
namespace {

constexpr Duration kLongAgo(-(std::int64_t{1} << 60));  // 13 days before anything

// What segments use: streams besides the compute stream, and dimensions.
struct SegmentUse {
  std::set<StreamIndex> streams;
  std::set<DimensionId> dimensions;
  bool exchanges = true;  // its receives, if any, take its own sends
};

bool is_message(const Task& task) {
  return task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive;
}

// Stored by the sender into the memory of a peer at some distance: hosts do not wait for it.
bool is_to_neighbour(const MessageSpec& spec) {
  return spec.relative && spec.lag == 0 && spec.path == DmaPath::kNone && spec.moved_by == MovedBy::kSender;
}

// Whether ranks of one class, which do the same at the same time, receive just what they send: the n-th receive of a
// channel comes after the n-th send there, by a rank at the same distance.
bool exchanges_in_order(const TaskGraph& graph, const Segment& segment) {
  std::map<SentOn, int> sent;  // and not yet received
  for (const Task& task : segment.tasks) {
    if (!is_message(task)) continue;
    const MessageSpec& spec = graph.messages[task.detail];
    const Dimension& dimension = graph.dimensions[task.dimension.index()];
    const std::size_t members = dimension.groups.front().size();
    const bool equal =
        std::ranges::all_of(dimension.groups, [members](const auto& group) { return group.size() == members; });
    if (!equal || !is_to_neighbour(spec)) return false;
    int& left = sent[sent_on(task, spec, members)];
    left += task.kind == TaskKind::kSend ? 1 : -1;
    if (left < 0) return false;
  }
  return std::ranges::all_of(sent, [](const auto& channel) { return channel.second == 0; });
}

SegmentUse use_of(const TaskGraph& graph, const Segment& segment) {
  SegmentUse use{.streams = {}, .dimensions = {}, .exchanges = exchanges_in_order(graph, segment)};
  for (const Task& task : segment.tasks) {
    if (task.stream != kComputeStream && task.stream != kNoStream) use.streams.insert(task.stream);
    if (task.kind == TaskKind::kCollective || is_message(task)) use.dimensions.insert(task.dimension);
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

// By program: the dimensions of the segments that it calls; empty where a segment exchanges messages with the rest of
// the program, or may find a stream busy.
std::optional<std::vector<std::set<DimensionId>>> dimensions_of_programs(const TaskGraph& graph) {
  std::vector<SegmentUse> uses;
  for (const Segment& segment : graph.segments) uses.push_back(use_of(graph, segment));
  if (!std::ranges::all_of(uses, &SegmentUse::exchanges)) return std::nullopt;
  std::vector<std::set<DimensionId>> dimensions;
  for (const Program& program : graph.programs) {
    if (!finds_streams_free(program, uses)) return std::nullopt;
    std::set<DimensionId>& used = dimensions.emplace_back();
    const std::vector<std::uint32_t> calls = count_calls(graph, program);
    for (std::size_t segment = 0; segment < calls.size(); ++segment) {
      if (calls[segment] > 0) used.insert(uses[segment].dimensions.begin(), uses[segment].dimensions.end());
    }
  }
  return dimensions;
}

std::size_t program_of(const TaskGraph& graph, const RankClasses& classes, ClassId c) {
  return graph.program_of[classes.representative[c.index()].index()].index();
}

}  // namespace

bool segments_send(const TaskGraph& graph) {
  return std::ranges::any_of(graph.segments,
                             [](const Segment& segment) { return std::ranges::any_of(segment.tasks, is_message); });
}

bool segments_stand_alone(const TaskGraph& graph, const RankClasses& classes) {
  const std::optional<std::vector<std::set<DimensionId>>> dimensions = dimensions_of_programs(graph);
  if (!dimensions) return false;
  for (std::size_t c = 0; c < classes.count(); ++c) {
    for (const DimensionId dimension : (*dimensions)[program_of(graph, classes, ClassId(c))]) {
      if (!is_among_equals(graph, classes, ClassId(c), dimension)) return false;
    }
  }
  return true;
}

bool segments_stand_together(const TaskGraph& graph, const RankClasses& classes) {
  if (segments_send(graph)) return false;
  const std::optional<std::vector<std::set<DimensionId>>> dimensions = dimensions_of_programs(graph);
  if (!dimensions) return false;
  for (std::size_t c = 0; c < classes.count(); ++c) {
    const std::size_t program = program_of(graph, classes, ClassId(c));
    const RankId rank = classes.representative[c];
    for (const DimensionId dimension : (*dimensions)[program]) {
      const Dimension& d = graph.dimensions[dimension.index()];
      const bool same = std::ranges::all_of(d.groups[d.group_of[rank.index()]], [&](RankId member) {
        return graph.program_of[member.index()].index() == program;
      });
      if (!same) return false;
    }
  }
  return true;
}

SegmentTimes::SegmentTimes(const PassInputs& inputs)
    : inputs_(inputs),
      follower_(inputs),
      timelines_(inputs.classes.count() * inputs.graph.segments.size(), nullptr),
      scratch_(inputs.classes.count()),
      together_(inputs.classes.count(), nullptr) {
  if (inputs.rehearsed != nullptr && inputs.rehearsed->joins_classes()) groups_.emplace(inputs.graph, inputs.classes);
}

const SegmentTimeline& SegmentTimes::of(std::uint32_t segment, ClassId rank_class, Duration host_behind) {
  Timelines& timelines = timelines_of(segment, rank_class);
  if (host_behind + timelines.undisturbed.host_lead <= Duration(0)) return timelines.undisturbed;
  const auto known = timelines.late.find(host_behind);
  if (known != timelines.late.end()) return known->second;
  const bool keep = kept_ < kKept;
  if (keep) ++kept_;
  SegmentTimeline& late = keep ? timelines.late[host_behind] : scratch_[rank_class.index()];
  const PassStart start{.rank_class = rank_class, .begin = {}, .host_behind = host_behind};
  SegmentTimeline* const target = &late;
  follower_.follow(inputs_.graph.segments[segment], {&start, 1}, {&target, 1}, PassFollower::Detail::kTraffic);
  return late;
}

// Of all that go together.
void SegmentTimes::follow_undisturbed(std::uint32_t segment, ClassId rank_class) {
  std::span<const ClassId> classes = members(segment, rank_class);
  if (classes.empty()) classes = {&rank_class, 1};
  std::vector<PassStart> starts;
  std::vector<SegmentTimeline*> targets;
  bool any_new = false;
  for (const ClassId c : classes) {
    const auto [entry, is_new] = known_.try_emplace(circumstances(segment, c));
    any_new = any_new || is_new;
    starts.push_back({.rank_class = c, .begin = {}, .host_behind = kLongAgo});
    targets.push_back(&entry->second.undisturbed);
    timelines_[c.index() * inputs_.graph.segments.size() + segment] = &entry->second;
  }
  if (!any_new) return;
  follower_.follow(inputs_.graph.segments[segment], starts, targets, PassFollower::Detail::kTraffic);
}

bool SegmentTimes::go_together(std::uint32_t segment, std::span<const PassStart> starts) {
  if (is_undisturbed(segment, starts)) {
    for (const PassStart& start : starts) {
      together_[start.rank_class.index()] = &undisturbed(segment, start.rank_class);
    }
    return true;
  }
  targets_.clear();
  for (const PassStart& start : starts) {
    SegmentTimeline& timeline = scratch_[start.rank_class.index()];
    together_[start.rank_class.index()] = &timeline;
    targets_.push_back(&timeline);
  }
  const bool as_kernels = inputs_.rehearsed != nullptr && inputs_.rehearsed->lone != nullptr;
  return follower_.follow(inputs_.graph.segments[segment], starts, targets_,
                          as_kernels ? PassFollower::Detail::kTraffic : PassFollower::Detail::kTimes);
}

// All begin at once, and no host is late.
bool SegmentTimes::is_undisturbed(std::uint32_t segment, std::span<const PassStart> starts) {
  return std::ranges::all_of(starts, [&](const PassStart& start) {
    const Duration lead = timelines_of(segment, start.rank_class).undisturbed.host_lead;
    return start.begin == starts.front().begin && start.host_behind + lead <= Duration(0);
  });
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

}  // namespace ringwright
