#include "traces/chakra/export.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "traces/chakra/trace_builder.h"
#include "traces/chakra/writer.h"

namespace ringwright::traces {
namespace {

// Some 100 bytes of file for each.
constexpr std::uint64_t kMostExportedNodes = 200'000'000;

ChakraCollective format_kind(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce: return ChakraCollective::kAllReduce;
    case CollectiveKind::kAllGather: return ChakraCollective::kAllGather;
    case CollectiveKind::kReduceScatter: return ChakraCollective::kReduceScatter;
    case CollectiveKind::kAllToAll: return ChakraCollective::kAllToAll;
    case CollectiveKind::kBroadcast: return ChakraCollective::kBroadcast;
    case CollectiveKind::kReduce: return ChakraCollective::kReduce;
  }
  return ChakraCollective::kAllReduce;
}

std::uint64_t whole_micros(Duration time) {
  constexpr std::int64_t kPicos = 1'000'000;
  return static_cast<std::uint64_t>((time.count() + kPicos / 2) / kPicos);
}

// Why a message cannot be written; empty when it can.
std::string_view why_not(const MessageSpec& message) {
  if (message.lag > 0) return "a receive takes a message of an earlier training step (a schedule that never drains)";
  if (message.moved_by == MovedBy::kSender) return "a sender stores into the memory of its peer (user buffers)";
  if (message.moved_by == MovedBy::kAgent) return "bytes belong to a checkpoint (checkpoint)";
  if (message.path != DmaPath::kNone && message.path != DmaPath::kToMemory && message.path != DmaPath::kFromMemory) {
    return "bytes move to or from drives, or within host memory (offloading)";
  }
  return {};
}

std::uint64_t id_of(std::uint32_t task) {
  return 2 * std::uint64_t{task} + 1;
}
// The host's node that a task waits for.
std::uint64_t host_id_of(std::uint32_t task) {
  return 2 * std::uint64_t{task};
}

// The trace of one rank in the making.
class RankExport {
 public:
  struct Times {
    std::span<const TimePoint> start;  // by task
    std::span<const TimePoint> end;
  };
  RankExport(const ExportInputs& inputs, RankId rank, const std::vector<std::uint32_t>& first_group, Times times)
      : in_(inputs),
        rank_(rank),
        first_group_(first_group),
        times_(times),
        program_(inputs.programs[inputs.graph.program_of[rank.index()].index()]),
        builder_(fmt::format("rank {}", rank.index())),
        last_(static_cast<std::size_t>(program_.stream_count)) {}

  [[nodiscard]] ChakraTrace write() && {
    builder_.trace().version = kChakraVersion;
    builder_.trace().facts["schema"] = "ringwright " RINGWRIGHT_VERSION;
    for (std::uint32_t task = 0; task < program_.tasks.size(); ++task) write_task(task);
    return std::move(builder_).take();
  }

 private:
  void write_task(std::uint32_t task) {
    const Task& entry = program_.tasks[task];
    std::vector<std::uint64_t> data;
    TimePoint ready;
    for (std::uint32_t d = 0; d < entry.dependency_count; ++d) {
      const std::uint32_t before = program_.dependencies[entry.first_dependency + d];
      ready = std::max(ready, times_.end[before]);
      data.push_back(id_of(before));
    }
    std::vector<std::uint64_t> control;
    if (entry.stream != kNoStream) {
      std::optional<std::uint32_t>& last = last_[entry.stream];
      if (last) {
        ready = std::max(ready, times_.end[*last]);
        control.push_back(id_of(*last));
      }
      last = task;
    }
    if (times_.start[task] > ready) {
      write_host(task);
      control.push_back(host_id_of(task));
    }
    ChakraAttributes given = attributes_of(entry);
    given.stream = entry.stream == kNoStream ? -1 : std::int64_t{entry.stream};
    builder_.add({.id = id_of(task),
                  .name = in_.graph.labels[entry.label],
                  .kind = kind_of(entry),
                  .control_dependencies = control,
                  .data_dependencies = data,
                  .start_micros = whole_micros(times_.start[task].since_start()),
                  .duration_micros = whole_micros(times_.end[task] - times_.start[task]),
                  .attributes = &given});
  }

  void write_host(std::uint32_t task) {
    const Duration issued = times_.start[task].since_start();
    const ChakraAttributes given{.is_cpu_op = true, .stream = -1, .duration_picos = issued};
    builder_.add({.id = host_id_of(task),
                  .name = "host issues",
                  .kind = ChakraKind::kCompute,
                  .duration_micros = whole_micros(issued),
                  .attributes = &given});
  }

  [[nodiscard]] ChakraKind kind_of(const Task& entry) const {
    switch (entry.kind) {
      case TaskKind::kCompute:
      case TaskKind::kSegment: return ChakraKind::kCompute;
      case TaskKind::kCollective: return ChakraKind::kCollective;
      case TaskKind::kReceive: return ChakraKind::kReceive;
      case TaskKind::kSend: break;
    }
    switch (in_.graph.messages[entry.detail].path) {
      case DmaPath::kToMemory: return ChakraKind::kMemoryStore;
      case DmaPath::kFromMemory: return ChakraKind::kMemoryLoad;
      case DmaPath::kNone:
      case DmaPath::kToStorage:
      case DmaPath::kFromStorage:
      case DmaPath::kWithinMemory: break;
    }
    return ChakraKind::kSend;
  }

  [[nodiscard]] ChakraAttributes attributes_of(const Task& entry) {
    switch (entry.kind) {
      case TaskKind::kCompute:
      case TaskKind::kSegment: return of_compute(entry);
      case TaskKind::kCollective: return of_collective(entry);
      case TaskKind::kSend:
      case TaskKind::kReceive: break;
    }
    return of_message(entry);
  }

  // Of recorded work there is nothing but its time.
  [[nodiscard]] ChakraAttributes of_compute(const Task& entry) const {
    const Work& work = in_.graph.works[entry.detail];
    ChakraAttributes given{.is_cpu_op = false, .duration_picos = in_.work_time[entry.detail]};
    if (work.kernels.empty()) return given;
    Bytes touched;
    for (const Kernel& kernel : work.kernels) touched += kernel.bytes * kernel.launches;
    constexpr double kMost = 9e18;
    given.num_ops = static_cast<std::int64_t>(std::min(total_flops(work).count(), kMost));
    given.tensor_size = touched;
    return given;
  }

  [[nodiscard]] ChakraAttributes of_collective(const Task& entry) {
    const CollectiveSpec& spec = in_.graph.collectives[entry.detail];
    const Dimension& dimension = in_.graph.dimensions[entry.dimension.index()];
    const auto ranks = static_cast<std::int64_t>(dimension.groups[dimension.group_of[rank_.index()]].size());
    ChakraAttributes given{.is_cpu_op = false, .comm_type = format_kind(spec.kind), .comm_size = spec.bytes};
    if (spec.kind == CollectiveKind::kAllGather) {
      given.comm_size = spec.bytes / ranks;
      if (*given.comm_size * ranks != spec.bytes) given.buffer_bytes = spec.bytes;
    }
    given.pg_name = group_name(entry);
    return given;
  }

  [[nodiscard]] TextIndex group_name(const Task& entry) {
    const std::uint32_t group = in_.graph.dimensions[entry.dimension.index()].group_of[rank_.index()];
    return builder_.text(std::to_string(first_group_[entry.dimension.index()] + group));
  }

  // Dimension and channel are the tag.
  [[nodiscard]] ChakraAttributes of_message(const Task& entry) {
    const MessageSpec& spec = in_.graph.messages[entry.detail];
    if (spec.path != DmaPath::kNone) return {.is_cpu_op = false, .tensor_size = spec.bytes};
    const Dimension& dimension = in_.graph.dimensions[entry.dimension.index()];
    const std::vector<RankId>& group = dimension.groups[dimension.group_of[rank_.index()]];
    const auto own = static_cast<int>(dimension.index_in_group[rank_.index()]);
    const auto peer = static_cast<std::int64_t>(group[static_cast<std::size_t>(spec.peer_of(own, group.size()))].value);
    const std::int64_t tag = std::int64_t{entry.dimension.value} * kChannels + spec.channel;
    ChakraAttributes given{.is_cpu_op = false, .comm_size = spec.bytes, .comm_tag = tag};
    given.pg_name = group_name(entry);
    const std::int64_t self = rank_.value;
    given.comm_src = entry.kind == TaskKind::kSend ? self : peer;
    given.comm_dst = entry.kind == TaskKind::kSend ? peer : self;
    return given;
  }

  const ExportInputs& in_;
  RankId rank_;
  const std::vector<std::uint32_t>& first_group_;
  Times times_;
  const Program& program_;
  ChakraTraceBuilder builder_;
  std::vector<std::optional<std::uint32_t>> last_;  // by stream: its last task so far
};

}  // namespace

ChakraExport::ChakraExport(const ExportInputs& inputs) : in_(inputs) {
  for (const RankId rank : inputs.classes.representative) {
    const std::size_t tasks = inputs.programs[inputs.graph.program_of[rank.index()].index()].tasks.size();
    start_.emplace_back(tasks);
    end_.emplace_back(tasks);
  }
  for (const Span& span : inputs.spans) {
    if (span.iteration != 0) continue;
    start_[span.rank_class.index()][span.task] = span.start;
    end_[span.rank_class.index()][span.task] = span.end;
  }
  std::uint32_t next = 1;  // other simulators reserve 0 for all ranks
  for (const Dimension& dimension : inputs.graph.dimensions) {
    first_group_.push_back(next);
    next += static_cast<std::uint32_t>(dimension.groups.size());
  }
}

Result<ChakraExport> ChakraExport::make(const ExportInputs& inputs) {
  ChakraExport result(inputs);
  if (Diagnostics problems = result.check(); problems.has_errors()) return tl::unexpected(std::move(problems));
  return result;
}

Diagnostics ChakraExport::check() const {
  Diagnostics problems;
  std::vector<std::string_view> reported;
  for (const MessageSpec& message : in_.graph.messages) {
    const std::string_view why = why_not(message);
    if (why.empty() || std::ranges::find(reported, why) != reported.end()) continue;
    reported.push_back(why);
    problems.add({.code = "E254", .message = fmt::format("the step cannot be written as traces: {}", why)});
  }
  std::uint64_t nodes = 0;
  for (const ProgramId program : in_.graph.program_of) nodes += in_.programs[program.index()].tasks.size();
  if (nodes > kMostExportedNodes) {
    problems.add(
        {.code = "E254",
         .message = fmt::format("the traces would have {} nodes; at most {} are written", nodes, kMostExportedNodes)});
  }
  return problems;
}

ChakraTrace ChakraExport::trace_of(RankId rank) const {
  const std::size_t of_class = in_.classes.class_of[rank.index()].index();
  return RankExport(in_, rank, first_group_, {.start = start_[of_class], .end = end_[of_class]}).write();
}

std::string ChakraExport::groups() const {
  std::string text;
  for (std::size_t d = 0; d < in_.graph.dimensions.size(); ++d) {
    std::uint32_t number = first_group_[d];
    for (const std::vector<RankId>& group : in_.graph.dimensions[d].groups) {
      std::string ranks;
      for (const RankId rank : group) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank.value);
      text += fmt::format("{}\n  \"{}\": [{}]", text.empty() ? "" : ",", number++, ranks);
    }
  }
  return "{" + text + "\n}\n";
}

}  // namespace ringwright::traces
