#include "traces/chakra/replay.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "traces/chakra/check.h"
#include "traces/chakra/replay_calls.h"
#include "traces/chakra/replay_groups.h"
#include "traces/chakra/replay_messages.h"

namespace ringwright::traces {
namespace {

constexpr StreamIndex kLoadStream = 1;
constexpr StreamIndex kStoreStream = 2;
constexpr int kFixedStreams = 3;  // then one for the collectives of each dimension
// The executor counts a task's dependencies in 16 bits: more of them are gathered first.
constexpr std::size_t kMostDependencies = 60'000;

// Distinct values of a table of the graph, each once.
template <class Key, class Value>
class Interned {
 public:
  explicit Interned(std::vector<Value>& table) : table_(table) {}
  template <class Make>
  std::uint32_t index(const Key& key, const Make& make) {
    const auto [found, fresh] = known_.try_emplace(key, static_cast<std::uint32_t>(table_.size()));
    if (fresh) table_.push_back(make());
    return found->second;
  }

 private:
  std::vector<Value>& table_;
  std::map<Key, std::uint32_t> known_;
};

Duration recorded_time(const ChakraNode& node, const ChakraAttributes& given) {
  constexpr std::int64_t kPicos = 1'000'000;
  if (given.duration_picos) return *given.duration_picos;
  const auto most = static_cast<std::uint64_t>(kClockEnd.count() / kPicos);
  return Duration(kPicos) * static_cast<std::int64_t>(std::min(node.duration_micros, most));
}

bool is_computed(const ChakraAttributes& given, const ReplayOptions& options) {
  return options.times == ReplayTimes::kRoofline && given.num_ops;
}

Duration gpu_time(const ChakraNode& node, const ChakraAttributes& given, const ReplayOptions& options) {
  if (!is_computed(given, options)) return scale(recorded_time(node, given), options.scale);
  const Duration arithmetic = compute_time(Flops(static_cast<double>(*given.num_ops)), options.peak);
  const Duration memory = transfer_time(given.tensor_size.value_or(Bytes()), options.memory);
  return scale(std::max(arithmetic, memory), options.scale);
}

// Streams that nodes name, as streams of programs: that of the first node that computes on the GPU is the compute
// stream. A negative number means none: the node starts as soon as its dependencies are met.
class StreamNumbers {
 public:
  StreamNumbers(const ChakraJob& job, std::size_t dimensions) : count_(kFixedStreams + dimensions) {
    std::optional<std::int64_t> computing;
    std::set<std::int64_t> named;
    for (const ChakraTrace& trace : job.traces) {
      for (const ChakraNode& node : trace.nodes) {
        const std::optional<std::int64_t>& stream = trace.of(node).stream;
        if (!stream || *stream < 0 || role_of(trace, node) == NodeRole::kCpu) continue;
        if (!computing && role_of(trace, node) == NodeRole::kGpu) computing = *stream;
        named.insert(*stream);
      }
    }
    if (computing) number_[*computing] = kComputeStream;
    for (const std::int64_t stream : named) {
      if (number_.contains(stream)) continue;
      number_[stream] = static_cast<StreamIndex>(count_ % kNoStream);
      ++count_;
    }
  }

  [[nodiscard]] StreamIndex of(const ChakraAttributes& given, StreamIndex otherwise) const {
    if (!given.stream) return otherwise;
    return *given.stream < 0 ? kNoStream : number_.find(*given.stream)->second;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::map<std::int64_t, StreamIndex> number_;
  std::size_t count_;
};

// Not where a node says that it waits for no stream.
bool waits_for_host(const ChakraTrace& trace, const ChakraNode& node) {
  return role_of(trace, node) == NodeRole::kCpu && trace.of(node).stream.value_or(0) >= 0;
}

// Programs of ranks; equal ones are stored once.
class ProgramStore {
 public:
  explicit ProgramStore(std::vector<Program>& programs) : programs_(programs) {}

  [[nodiscard]] ProgramId add(Program program) {
    std::uint64_t hash = program.tasks.size();
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29U); };
    for (const Task& task : program.tasks) {
      mix((std::uint64_t{task.detail} << 32U) | task.dependency_count);
      mix((std::uint64_t{task.dimension.value} << 32U) | task.label);
      mix((std::uint64_t{task.stream} << 8U) | static_cast<std::uint64_t>(task.kind));
    }
    for (const std::uint32_t dependency : program.dependencies) mix(dependency);
    for (const std::uint32_t known : by_hash_[hash]) {
      if (programs_[known].tasks == program.tasks && programs_[known].dependencies == program.dependencies) {
        return ProgramId(known);
      }
    }
    by_hash_[hash].push_back(static_cast<std::uint32_t>(programs_.size()));
    programs_.push_back(std::move(program));
    return ProgramId(programs_.size() - 1);
  }

 private:
  std::vector<Program>& programs_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash_;
};

class ReplayWriter {
 public:
  struct Inputs {
    const ChakraJob& job;
    const ReplayOptions& options;
    const ReplayGroups& groups;
    const MessageQueues& queues;
    const StreamNumbers& streams;
    const std::vector<TraceCalls>& calls;  // by trace
  };
  ReplayWriter(const Inputs& inputs, ChakraReplay& replay)
      : in_(inputs),
        replay_(replay),
        works_(replay.graph.works),
        collectives_(replay.graph.collectives),
        messages_(replay.graph.messages),
        labels_(replay.graph.labels),
        programs_(replay.graph.programs) {
    TaskGraph& graph = replay.graph;
    graph.dimensions = inputs.groups.dimensions;
    messages_from_ = graph.dimensions.size();
    for (std::uint32_t queue = 0; queue < inputs.queues.count; queue += kChannels) {
      const std::string name = queue == 0 ? "p2p" : fmt::format("p2p_{}", queue / kChannels + 1);
      graph.dimensions.push_back(world_dimension(name, inputs.job.ranks()));
    }
    own_memory_ = graph.dimensions.size();
  }

  // Of all ranks of a trace.
  void write(std::uint32_t trace, const ChakraOrder& order, const std::vector<std::uint32_t>& ranks) {
    collective_at_.clear();
    message_at_.clear();
    const TraceCalls& calls = in_.calls[trace];
    for (const TraceCollective& call : calls.collectives) collective_at_[call.node] = &call;
    for (const TraceMessage& message : calls.sends) message_at_[message.node] = &message;
    for (const TraceMessage& message : calls.receives) message_at_[message.node] = &message;
    std::optional<ProgramId> same;  // without messages all ranks of a trace have one program
    for (const std::uint32_t rank : ranks) {
      if (!same || !message_at_.empty()) same = programs_.add(write_program(trace, order, rank));
      replay_.graph.program_of[rank] = *same;
    }
  }

 private:
  Program write_program(std::uint32_t trace_index, const ChakraOrder& order, std::uint32_t rank) {
    const ChakraTrace& trace = in_.job.traces[trace_index];
    Program program{.name = fmt::format("rank {}", rank)};
    program.stream_count = static_cast<int>(in_.streams.count());
    std::vector<std::uint32_t> task_of(trace.nodes.size());
    std::vector<std::uint32_t> before;
    std::optional<std::uint32_t> on_host;  // its last task: the host does one at a time, on no stream of the GPU
    for (const std::uint32_t at : order.nodes) {
      before.clear();
      for (std::uint32_t d = order.first_dependency[at]; d < order.first_dependency[at + 1]; ++d) {
        before.push_back(task_of[order.dependencies[d]]);
      }
      const bool in_turn = waits_for_host(trace, trace.nodes[at]);
      if (in_turn && on_host && std::ranges::find(before, *on_host) == before.end()) before.push_back(*on_host);
      Task task = task_for(trace, at, rank);
      task.label = labels_.index(trace.name_of(trace.nodes[at]), [&] { return trace.name_of(trace.nodes[at]); });
      task_of[at] = append(program, task, before);
      if (in_turn) on_host = task_of[at];
    }
    return program;
  }

  // Tasks that gather come first where there are too many dependencies.
  std::uint32_t append(Program& program, Task task, std::vector<std::uint32_t>& before) {
    while (before.size() > kMostDependencies) {
      std::vector<std::uint32_t> part(before.end() - static_cast<std::ptrdiff_t>(kMostDependencies), before.end());
      before.resize(before.size() - kMostDependencies);
      Task gather = nothing();
      gather.label = task.label;
      before.insert(before.begin(), append(program, gather, part));
    }
    task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    task.dependency_count = static_cast<std::uint32_t>(before.size());
    program.dependencies.insert(program.dependencies.end(), before.begin(), before.end());
    program.tasks.push_back(task);
    return static_cast<std::uint32_t>(program.tasks.size() - 1);
  }

  Task nothing() { return compute(kNoStream, Duration()); }

  Task compute(StreamIndex stream, Duration time) {
    Task task{.kind = TaskKind::kCompute, .stream = stream};
    task.detail = works_.index(time.count(), [&] { return Work{.name = "recorded", .kernels = {}, .recorded = time}; });
    return task;
  }

  Task task_for(const ChakraTrace& trace, std::uint32_t at, std::uint32_t rank) {
    const ChakraNode& node = trace.nodes[at];
    const ChakraAttributes& given = trace.of(node);
    switch (role_of(trace, node)) {
      case NodeRole::kNothing: return nothing();
      case NodeRole::kGpu: return compute(in_.streams.of(given, kComputeStream), gpu_time(node, given, in_.options));
      case NodeRole::kCpu: return compute(kNoStream, scale(recorded_time(node, given), in_.options.scale));
      case NodeRole::kCollective: return collective(*collective_at_[at], trace, given);
      case NodeRole::kSend: return message(TaskKind::kSend, *message_at_[at], rank, trace);
      case NodeRole::kReceive: return message(TaskKind::kReceive, *message_at_[at], rank, trace);
      case NodeRole::kLoad: return copy(DmaPath::kFromMemory, kLoadStream, node, given);
      case NodeRole::kStore: return copy(DmaPath::kToMemory, kStoreStream, node, given);
    }
    return nothing();
  }

  // Of collectives that only one rank joins nothing moves.
  Task collective(const TraceCollective& call, const ChakraTrace& trace, const ChakraAttributes& given) {
    const ReplayGroup& group = in_.groups.of(trace.texts[call.group]);
    if (group.ranks < 2) return nothing();
    const Bytes shards = call.of_shards ? call.size * static_cast<std::int64_t>(group.ranks) : call.size;
    const Bytes bytes = given.buffer_bytes.value_or(shards);
    Task task{.kind = TaskKind::kCollective,
              .stream = in_.streams.of(given, static_cast<StreamIndex>(kFixedStreams + group.dimension)),
              .dimension = DimensionId(group.dimension)};
    task.detail =
        collectives_.index({call.kind, bytes}, [&] { return CollectiveSpec{.kind = call.kind, .bytes = bytes}; });
    return task;
  }

  // Peers are distances, so that ranks of one role share a program.
  Task message(TaskKind kind, const TraceMessage& message, std::uint32_t rank, const ChakraTrace& trace) {
    const ChakraAttributes& given = trace.of(trace.nodes[message.node]);
    const std::string_view name = trace.texts[message.group];
    const MessageQueue queue = in_.queues.of(rank, message.node);
    const auto group = queue.in_group ? in_.groups.of_message(name) : std::nullopt;
    const std::size_t at = group ? *group : messages_from_ + queue.number / kChannels;
    const Dimension& dimension = replay_.graph.dimensions[at];
    const auto index_of = [&](std::int64_t member) {
      return std::int64_t{dimension.index_in_group[static_cast<std::size_t>(member)]};
    };
    const auto ranks = static_cast<std::int64_t>(dimension.groups[dimension.group_of[rank]].size());
    const auto distance = static_cast<int>((index_of(message.peer) - index_of(rank) + ranks) % ranks);
    Task task{.kind = kind, .stream = in_.streams.of(given, kNoStream), .dimension = DimensionId(at)};
    const auto channel = static_cast<std::uint8_t>(queue.number % kChannels);
    task.detail = messages_.index({distance, message.size, channel, DmaPath::kNone}, [&] {
      return MessageSpec{.peer = distance, .bytes = message.size, .channel = channel, .relative = true};
    });
    return task;
  }

  // Between the GPU and its host's memory; as long as recorded where the size is not given.
  Task copy(DmaPath path, StreamIndex stream, const ChakraNode& node, const ChakraAttributes& given) {
    if (!given.tensor_size || *given.tensor_size == Bytes(0)) return compute(kNoStream, recorded_time(node, given));
    TaskGraph& graph = replay_.graph;
    if (graph.dimensions.size() == own_memory_) {
      Dimension& alone = graph.dimensions.emplace_back();
      alone.name = "memory";
      for (std::size_t rank = 0; rank < in_.job.ranks(); ++rank) alone.groups.push_back({RankId(rank)});
      index_groups(alone, in_.job.ranks());
    }
    Task task{.kind = TaskKind::kSend, .stream = in_.streams.of(given, stream), .dimension = DimensionId(own_memory_)};
    task.detail = messages_.index({0, *given.tensor_size, std::uint8_t{0}, path},
                                  [&] { return MessageSpec{.peer = 0, .bytes = *given.tensor_size, .path = path}; });
    return task;
  }

  using MessageKey = std::tuple<int, Bytes, std::uint8_t, DmaPath>;

  Inputs in_;
  ChakraReplay& replay_;
  Interned<std::int64_t, Work> works_;
  Interned<std::pair<CollectiveKind, Bytes>, CollectiveSpec> collectives_;
  Interned<MessageKey, MessageSpec> messages_;
  Interned<std::string, std::string> labels_;
  ProgramStore programs_;
  std::size_t messages_from_ = 0;
  std::size_t own_memory_ = 0;
  // Of the trace that is being written, by position.
  std::unordered_map<std::uint32_t, const TraceCollective*> collective_at_;
  std::unordered_map<std::uint32_t, const TraceMessage*> message_at_;
};

void add_found(const Diagnostics& found, Diagnostics& to) {
  for (const Diagnostic& problem : found.all()) to.add(problem);
}

bool leaves_out_dimensions(const ChakraAttributes& given) {
  return given.involved_dim && std::ranges::find(*given.involved_dim, false) != given.involved_dim->end();
}

void count_times(const ChakraTrace& trace, std::int64_t ranks, const ReplayOptions& options, ChakraReplay& replay) {
  for (const ChakraNode& node : trace.nodes) {
    const NodeRole role = role_of(trace, node);
    if (role == NodeRole::kNothing && node.kind == ChakraKind::kCollective) replay.without_bytes += ranks;
    if (node.kind == ChakraKind::kInvalid) replay.without_kind += ranks;
    const ChakraAttributes& given = trace.of(node);
    if (role == NodeRole::kCollective && leaves_out_dimensions(given)) replay.in_some_dimensions += ranks;
    if (role != NodeRole::kGpu) continue;
    if (given.num_ops) replay.operations += static_cast<double>(*given.num_ops) * static_cast<double>(ranks);
    const bool computed = is_computed(given, options);
    const bool timed = computed || recorded_time(node, given) > Duration();
    (computed ? replay.computed : (timed ? replay.recorded : replay.without_time)) += ranks;
  }
}

// Of each trace: its order and its communication.
struct CheckedTraces {
  std::vector<ChakraOrder> orders;
  std::vector<TraceCalls> calls;
};

Result<CheckedTraces> check_traces(const ChakraJob& job) {
  CheckedTraces checked;
  Diagnostics problems;
  for (const ChakraTrace& trace : job.traces) {
    auto order = order_nodes(trace);
    if (!order) add_found(order.error(), problems);
    if (problems.error_count() > 100) break;
    checked.orders.push_back(order ? std::move(*order) : ChakraOrder());
    ProblemList calls(trace.file);
    checked.calls.push_back(calls_of(trace, checked.orders.back(), calls));
    add_found(std::move(calls).take(), problems);
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return checked;
}

}  // namespace

Result<ChakraReplay> replay_chakra(const ChakraJob& job, const ChakraGroups& groups, const ReplayOptions& options) {
  auto checked = check_traces(job);
  if (!checked) return tl::unexpected(std::move(checked.error()));
  auto dimensions = replay_groups(job, groups, checked->calls);
  if (dimensions && options.replicas.count > 1) dimensions->keep_messages_out_of_collectives();
  const auto queues = match_messages(job, dimensions ? *dimensions : ReplayGroups(), checked->calls);
  if (!dimensions || !queues) {
    Diagnostics problems;
    if (!dimensions) add_found(dimensions.error(), problems);
    if (!queues) add_found(queues.error(), problems);
    return tl::unexpected(std::move(problems));
  }
  ChakraReplay replay;
  replay.graph.program_of.resize(job.ranks());
  std::vector<std::vector<std::uint32_t>> ranks_of(job.traces.size());
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) ranks_of[job.trace_of[rank]].push_back(rank);
  const StreamNumbers streams(job, dimensions->dimensions.size());
  if (streams.count() > kNoStream) {
    return tl::unexpected(failure(
        "E251", fmt::format("the nodes name too many streams: with those of process groups {}", streams.count()),
        {.file = job.prefix}, fmt::format("at most {} can be simulated", kNoStream)));
  }
  const ReplayWriter::Inputs inputs{.job = job,
                                    .options = options,
                                    .groups = *dimensions,
                                    .queues = *queues,
                                    .streams = streams,
                                    .calls = checked->calls};
  ReplayWriter writer(inputs, replay);
  for (std::uint32_t trace = 0; trace < job.traces.size(); ++trace) {
    writer.write(trace, checked->orders[trace], ranks_of[trace]);
    const std::size_t replicas = options.replicas.count;
    count_times(job.traces[trace], static_cast<std::int64_t>(ranks_of[trace].size() * replicas), options, replay);
  }
  auto warnings = add_replicas({.job = job, .groups = *dimensions, .calls = checked->calls}, options.replicas,
                               replay.graph);
  if (!warnings) return tl::unexpected(std::move(warnings.error()));
  replay.warnings = std::move(*warnings);
  return replay;
}

}  // namespace ringwright::traces
