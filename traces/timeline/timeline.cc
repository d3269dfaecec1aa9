#include "traces/timeline/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/plan/segments.h"
#include "traces/timeline/slice_names.h"

namespace ringwright::traces {
namespace {

SliceKind slice_kind(TaskKind kind) {
  switch (kind) {
    case TaskKind::kCompute: return SliceKind::kCompute;
    case TaskKind::kCollective: return SliceKind::kCollective;
    case TaskKind::kSend: return SliceKind::kSend;
    case TaskKind::kReceive: return SliceKind::kReceive;
    case TaskKind::kSegment: break;
  }
  return SliceKind::kCompute;
}

// Equal for the tasks of all ranks that take part in one collective or message.
// Kind, dimension, group, sender's and receiver's index, channel, number.
using FlowKey = std::tuple<int, std::uint32_t, std::uint32_t, int, int, int, std::int64_t>;

class TimelineBuilder final {
 public:
  TimelineBuilder(const TaskGraph& graph, Timeline& timeline)
      : graph_(graph), programs_(write_out_programs(graph)), timeline_(timeline) {}

  void add_rank(RankId rank, const std::vector<const Span*>& spans) {
    const ProgramId id = graph_.program_of[rank.index()];
    const Program& program = programs_[id.index()];
    const auto index = static_cast<std::uint32_t>(timeline_.ranks.size());
    timeline_.ranks.push_back({.rank = rank, .role = program.name});
    const std::vector<std::int64_t> numbers = numbers_of(rank, program);
    stream_tracks_.clear();
    task_tracks_.clear();
    for (const Span* span : spans) {
      const Task& task = program.tasks[span->task];
      TimelineSlice slice{.track = track_of(index, task, *span),
                          .name = name_of(task),
                          .kind = slice_kind(task.kind),
                          .iteration = span->iteration,
                          .start = span->start,
                          .end = span->end,
                          .bytes = bytes_of(task),
                          .flow = 0};
      if (task.kind != TaskKind::kCompute) {
        slice.flow = flow_of(rank, program, task, numbers[span->task], span->iteration);
      }
      timeline_.slices.push_back(slice);
    }
  }

 private:
  // A track of tasks without a stream is free once its last task has ended.
  struct TaskTrack {
    std::uint32_t track = 0;
    std::uint32_t dimension = 0;
    TimePoint free_from;
  };

  [[nodiscard]] const std::string& dimension_name(const Task& task) const {
    return graph_.dimensions[task.dimension.index()].name;
  }

  std::uint32_t add_track(std::uint32_t rank, std::string name) {
    timeline_.tracks.push_back({.rank = rank, .name = std::move(name)});
    return static_cast<std::uint32_t>(timeline_.tracks.size() - 1);
  }

  std::uint32_t track_of(std::uint32_t rank, const Task& task, const Span& span) {
    if (task.stream != kNoStream) {
      const auto known = stream_tracks_.find(task.stream);
      if (known != stream_tracks_.end()) return known->second;
      const std::string name = task.stream == kComputeStream
                                   ? std::string("compute")
                                   : fmt::format("stream {}: {}", task.stream,
                                                 task.kind == TaskKind::kCompute ? "compute" : dimension_name(task));
      return stream_tracks_[task.stream] = add_track(rank, name);
    }
    const std::uint32_t dimension = task.kind == TaskKind::kCompute ? ~0U : task.dimension.value;
    int number = 1;
    for (TaskTrack& tasks : task_tracks_) {
      if (tasks.dimension != dimension) continue;
      ++number;
      if (tasks.free_from > span.start) continue;
      tasks.free_from = span.end;
      return tasks.track;
    }
    const std::string name =
        fmt::format("messages {}: {}", number, task.kind == TaskKind::kCompute ? "compute" : dimension_name(task));
    task_tracks_.push_back({.track = add_track(rank, name), .dimension = dimension, .free_from = span.end});
    return task_tracks_.back().track;
  }

  std::uint32_t name_of(const Task& task) {
    std::string name = task_name(graph_, task);
    const auto [found, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(timeline_.names.size()));
    if (is_new) timeline_.names.push_back(std::move(name));
    return found->second;
  }

  [[nodiscard]] Bytes bytes_of(const Task& task) const {
    if (task.kind == TaskKind::kCollective) return graph_.collectives[task.detail].bytes;
    if (task.kind == TaskKind::kCompute) return Bytes(0);
    return graph_.messages[task.detail].bytes;
  }

  [[nodiscard]] int index_in_group(RankId rank, const Task& task) const {
    return static_cast<int>(graph_.dimensions[task.dimension.index()].index_in_group[rank.index()]);
  }

  // Sender's and receiver's index in the group.
  [[nodiscard]] std::pair<int, int> ends_of(RankId rank, const Task& task) const {
    const Dimension& dimension = graph_.dimensions[task.dimension.index()];
    const int own = index_in_group(rank, task);
    const std::size_t size = dimension.groups[dimension.group_of[rank.index()]].size();
    const int peer = graph_.messages[task.detail].peer_of(own, size);
    return task.kind == TaskKind::kSend ? std::pair(own, peer) : std::pair(peer, own);
  }

  // By task: the how-manieth of its kind in its sequence it is.
  [[nodiscard]] std::vector<std::int64_t> numbers_of(RankId rank, const Program& program) {
    std::vector<std::int64_t> numbers(program.tasks.size(), 0);
    counts_.clear();
    for (std::size_t i = 0; i < program.tasks.size(); ++i) {
      const Task& task = program.tasks[i];
      if (task.kind != TaskKind::kCompute) numbers[i] = counts_[sequence_of(rank, task)]++;
    }
    return numbers;
  }

  // A sequence's key: the flow's without its number. Sends and receives of one connection share it, by kind.
  [[nodiscard]] FlowKey sequence_of(RankId rank, const Task& task) const {
    const std::uint32_t group = graph_.dimensions[task.dimension.index()].group_of[rank.index()];
    if (task.kind == TaskKind::kCollective) return {0, task.dimension.value, group, 0, 0, 0, 0};
    const auto [from, to] = ends_of(rank, task);
    const int kind = task.kind == TaskKind::kSend ? 1 : 2;
    return {kind, task.dimension.value, group, from, to, graph_.messages[task.detail].channel, 0};
  }

  std::uint64_t flow_of(RankId rank, const Program&, const Task& task, std::int64_t number, std::uint32_t iteration) {
    FlowKey key = sequence_of(rank, task);
    std::int64_t place = std::int64_t{iteration} * counts_[key] + number;
    if (task.kind != TaskKind::kCollective) {
      const MessageSpec& message = graph_.messages[task.detail];
      if (message.path != DmaPath::kNone) return 0;
      if (task.kind == TaskKind::kReceive) place -= message.lag;
      std::get<0>(key) = 1;
    }
    std::get<6>(key) = place;
    return flows_.try_emplace(key, flows_.size() + 1).first->second;
  }

  const TaskGraph& graph_;
  std::vector<Program> programs_;
  Timeline& timeline_;
  std::map<std::string, std::uint32_t> names_;
  std::map<FlowKey, std::uint64_t> flows_;
  // Of the rank in work.
  std::map<StreamIndex, std::uint32_t> stream_tracks_;
  std::vector<TaskTrack> task_tracks_;
  std::map<FlowKey, std::int64_t> counts_;  // of tasks in one iteration, by sequence
};

// A flow of one slice connects nothing.
void drop_single_flows(Timeline& timeline) {
  std::vector<std::uint32_t> members;
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.flow >= members.size()) members.resize(slice.flow + 1, 0);
    ++members[slice.flow];
  }
  for (TimelineSlice& slice : timeline.slices) {
    if (members[slice.flow] < 2) slice.flow = 0;
  }
}

}  // namespace

std::string_view to_string(SliceKind kind) {
  switch (kind) {
    case SliceKind::kCompute: return "compute";
    case SliceKind::kCollective: return "collective";
    case SliceKind::kSend: return "send";
    case SliceKind::kReceive: return "receive";
  }
  return "";
}

Timeline timeline_of(const RunRecord& record, const TaskGraph& graph, const RankClasses& classes,
                     const TraceSelection& shown) {
  Timeline timeline;
  std::vector<std::vector<const Span*>> spans(classes.count());
  for (const Span& span : record.spans) {
    if (std::ranges::binary_search(shown.steps, span.iteration)) spans[span.rank_class.index()].push_back(&span);
  }
  for (auto& of_class : spans) std::ranges::stable_sort(of_class, {}, [](const Span* span) { return span->start; });
  TimelineBuilder builder(graph, timeline);
  for (const RankId rank : shown.ranks) builder.add_rank(rank, spans[classes.class_of[rank.index()].index()]);
  std::ranges::stable_sort(timeline.slices, {},
                           [](const TimelineSlice& slice) { return std::pair(slice.track, slice.start); });
  drop_single_flows(timeline);
  const std::vector<TimePoint>& ends = record.iteration_end;
  const std::size_t last = shown.steps.empty() ? 0 : shown.steps.back();
  if (last < ends.size()) timeline.step_end = ends[last];
  if (last > 0 && last < ends.size()) timeline.step_start = ends[last - 1];
  return timeline;
}

std::uint64_t count_slices(const TaskGraph& graph, const TraceSelection& shown) {
  std::map<std::uint32_t, std::uint64_t> tasks;
  std::uint64_t slices = 0;
  for (const RankId rank : shown.ranks) {
    const ProgramId program = graph.program_of[rank.index()];
    const auto [found, is_new] = tasks.try_emplace(program.value, 0);
    if (is_new) found->second = count_tasks(graph, graph.programs[program.index()]);
    slices += found->second * shown.steps.size();
  }
  return slices;
}

}  // namespace ringwright::traces
