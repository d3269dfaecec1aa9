#include "configs/simulation/collective_run.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "collectives/bus_bandwidth.h"
#include "configs/simulation/call_overheads.h"
#include "configs/simulation/collective_table.h"
#include "configs/simulation/free_compute.h"
#include "configs/simulation/run_cost.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"
#include "core/base/check.h"

namespace ringwright::configs {
namespace {

constexpr std::array kOperations = {
    OperationName{CollectiveOperation::kAllReduce, "all_reduce"},
    OperationName{CollectiveOperation::kAllGather, "all_gather"},
    OperationName{CollectiveOperation::kReduceScatter, "reduce_scatter"},
    OperationName{CollectiveOperation::kAllToAll, "alltoall"},
    OperationName{CollectiveOperation::kBroadcast, "broadcast"},
    OperationName{CollectiveOperation::kReduce, "reduce"},
    OperationName{CollectiveOperation::kSendReceive, "sendrecv"},
};

CollectiveKind kind_of(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllReduce: return CollectiveKind::kAllReduce;
    case CollectiveOperation::kAllGather: return CollectiveKind::kAllGather;
    case CollectiveOperation::kReduceScatter: return CollectiveKind::kReduceScatter;
    case CollectiveOperation::kAllToAll: return CollectiveKind::kAllToAll;
    case CollectiveOperation::kBroadcast: return CollectiveKind::kBroadcast;
    case CollectiveOperation::kReduce: return CollectiveKind::kReduce;
    case CollectiveOperation::kSendReceive: break;
  }
  CHECK(false, "send and receive are messages, not a collective");
  return CollectiveKind::kAllReduce;
}

// "all_reduce", "AllReduce" and "all_reduce_perf" are one word: letters only, small, without the suffix.
std::string bare_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') word += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') word += c;
  }
  constexpr std::string_view kSuffix = "perf";
  if (word.size() > kSuffix.size() && word.ends_with(kSuffix)) word.resize(word.size() - kSuffix.size());
  return word;
}

Task task_of(TaskKind kind, std::uint32_t detail, StreamIndex stream) {
  return {.kind = kind, .stream = stream, .dimension = DimensionId(0), .detail = detail};
}

// Every rank's send and receive run at once, as in one ncclGroup.
void add_ring_shift(TaskGraph& graph, const std::vector<RankId>& members, Bytes bytes) {
  const int ranks = static_cast<int>(members.size());
  for (int index = 0; index < ranks; ++index) {
    Program program{.name = fmt::format("rank {}", index), .tasks = {}, .dependencies = {}, .stream_count = 2};
    const auto detail = static_cast<std::uint32_t>(graph.messages.size());
    graph.messages.push_back({.peer = (index + 1) % ranks, .bytes = bytes});
    graph.messages.push_back({.peer = (index + ranks - 1) % ranks, .bytes = bytes});
    program.tasks = {task_of(TaskKind::kSend, detail, 0), task_of(TaskKind::kReceive, detail + 1, 1)};
    graph.program_of[members[static_cast<std::size_t>(index)].index()] = ProgramId(graph.programs.size());
    graph.programs.push_back(std::move(program));
  }
}

// What simulated the call: algorithm, protocol, channels.
void tell_choice(const Simulation& simulation, const CollectiveCall& call, CollectiveResult& result) {
  PlayedChoice choice = played_choice(simulation, call);
  result.algorithm = std::move(choice.algorithm);
  result.protocol = std::move(choice.protocol);
  result.channels = choice.channels;
}

// Calls run back to back: the issuing thread is either ahead of the device or limits the rate.
Duration time_to_issue(const Scenario& scenario, const CollectiveRequest& request, int ranks, int channels) {
  if (channels == 0) return {};
  // Every rank sends to all, including itself; in a group of sends and receives each channel's work is one piece.
  if (request.operation == CollectiveOperation::kAllToAll) {
    return scenario.comm.costs.issue_of(request.gpus_per_process, 1, ranks);
  }
  const int peers = request.operation == CollectiveOperation::kSendReceive ? 1 : 0;
  return scenario.comm.costs.issue_of(request.gpus_per_process, channels, peers);
}

// The same for messages: the one over the longest distance.
void tell_message_choice(const Simulation& simulation, Bytes bytes, CollectiveResult& result) {
  const ChannelInputs* const channels = simulation.channels();
  if (channels == nullptr) return;
  const TaskGraph& graph = simulation.plan().graph;
  const GroupLayout& layout = graph.layouts[graph.dimensions.front().layout_of_group.front()];
  const CollectivePlan plan =
      channels->chooser.choose_message({.bytes = bytes, .layout = &layout, .from = layout.size() - 1, .to = 0}).plan;
  result.algorithm = plan.algorithm;
  result.protocol = std::string(to_string(plan.protocol));
  result.channels = plan.channels;
}

// The time that NCCL's own cost model predicts for its cheapest choice; nothing for calls that it does not choose for.
std::optional<Duration> formula_of(const Scenario& scenario, const CollectiveCall& call,
                                   collectives::NcclGraphCache& graphs) {
  const std::vector<collectives::NcclOption> options = collectives::nccl_cost(scenario.nccl, call, &graphs);
  if (options.empty() || options.front().cost.bandwidth_gb <= 0.0) return std::nullopt;
  return from_seconds(options.front().cost.time_us * 1e-6);
}

// Why the run did not end, as a mistake of the input: links that are down, a disconnected machine, rates that are too
// low.
Diagnostics never_ends(const CollectiveRequest& request, const RunResult& run) {
  if (run.outcome == RunOutcome::kClockRanOut) {
    return failure("E148",
                   fmt::format("{} calls of {} take longer than the 106 days of the simulated clock",
                               request.warmup + request.iterations, to_string(request.bytes)),
                   {}, "ask for fewer calls or smaller sizes, or look for a rate of the machine that is too low");
  }
  return failure("E152", "the collective never ends: " + render(run.stall));
}

}  // namespace

std::span<const OperationName> collective_operations() { return kOperations; }

std::string_view to_string(CollectiveOperation operation) {
  for (const OperationName& entry : kOperations) {
    if (entry.operation == operation) return entry.name;
  }
  return "";
}

std::optional<CollectiveOperation> parse_operation(std::string_view text) {
  const std::string word = bare_word(text);
  for (const OperationName& entry : kOperations) {
    if (word == bare_word(entry.name)) return entry.operation;
  }
  return std::nullopt;
}

double bus_factor(CollectiveOperation operation, int ranks) {
  if (operation == CollectiveOperation::kSendReceive) return 1.0;
  return collectives::busbw_factor(kind_of(operation), ranks);
}

bool cuts_buffer_over_ranks(CollectiveOperation operation) {
  return operation == CollectiveOperation::kAllGather || operation == CollectiveOperation::kReduceScatter ||
         operation == CollectiveOperation::kAllToAll;
}

int usual_gpus_per_process(const Cluster& cluster, int gpus_per_host) {
  // A rack that is one node has servers of its own.
  constexpr int kLargestServer = 16;
  return cluster.hosts == 1 && cluster.gpu.nvidia && gpus_per_host <= kLargestServer ? gpus_per_host : 1;
}

Bytes rounded_size(CollectiveOperation operation, Bytes size, int ranks, int element_bytes) {
  const std::int64_t unit = cuts_buffer_over_ranks(operation) ? std::int64_t{element_bytes} * ranks : element_bytes;
  return Bytes(size.count() / unit * unit);
}

TaskGraph collective_graph(const Cluster& cluster, const CollectiveRequest& request) {
  const int per_host = request.gpus_per_host > 0 ? request.gpus_per_host : cluster.host.gpus;
  const auto ranks = static_cast<std::size_t>(cluster.gpus());
  Dimension world{
      .name = std::string(kWorld), .group_of = {}, .index_in_group = {}, .groups = {{}}, .layout_of_group = {}};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool member = static_cast<int>(rank % static_cast<std::size_t>(cluster.host.gpus)) < per_host;
    if (member) {
      world.groups.front().emplace_back(rank);
    } else {
      world.groups.push_back({RankId(rank)});
    }
  }
  index_groups(world, ranks);
  const std::vector<RankId> members = world.groups.front();
  TaskGraph graph;
  graph.dimensions = {std::move(world)};
  graph.labels = {std::string(to_string(request.operation))};
  graph.programs = {Program{.name = "idle", .tasks = {}, .dependencies = {}}};
  graph.program_of.assign(ranks, ProgramId(0));
  graph.iterations = request.warmup + request.iterations;
  if (request.operation == CollectiveOperation::kSendReceive) {
    add_ring_shift(graph, members, request.bytes);
    return graph;
  }
  graph.collectives = {{.kind = kind_of(request.operation), .bytes = request.bytes}};
  graph.programs.push_back({.name = "rank", .tasks = {task_of(TaskKind::kCollective, 0, 0)}, .dependencies = {}});
  for (const RankId rank : members) graph.program_of[rank.index()] = ProgramId(1);
  return graph;
}

CollectiveBench::CollectiveBench(const Scenario& scenario)
    : scenario_(scenario), network_(scenario.cluster.topology->build()), known_(std::make_unique<KnownOverheads>()) {}

CollectiveBench::~CollectiveBench() = default;

int CollectiveBench::ranks(int gpus_per_host) const {
  const int per_host = gpus_per_host > 0 ? gpus_per_host : scenario_.cluster.host.gpus;
  return static_cast<int>(scenario_.cluster.hosts) * per_host;
}

Result<CollectiveResult> CollectiveBench::run(const CollectiveRequest& request) {
  CHECK(request.bytes > Bytes(0) && request.iterations > 0, "there is something to simulate");
  workload::StepPlan plan;
  plan.graph = collective_graph(scenario_.cluster, request);
  auto simulation = Simulation::assemble(scenario_, std::move(plan), std::move(network_), FoldMode::kFold,
                                         {.overheads = known_.get()});
  if (!simulation) {
    network_ = scenario_.cluster.topology->build();
    return tl::unexpected(simulation.error());
  }
  if (Diagnostics costly = too_costly(scenario_, cost_of_playing(scenario_, **simulation)); costly.has_errors()) {
    network_ = std::move(**simulation).take_network();
    return tl::unexpected(std::move(costly));
  }
  const TaskGraph& graph = (*simulation)->plan().graph;
  const FreeCompute compute;  // a bare loop issues the calls (`comm.costs.host`)
  PlayedPlan played = play_plan(scenario_, **simulation, {.compute = &compute});
  CollectiveResult result{
      .time = {}, .algorithm = "", .protocol = "", .channels = 0, .formula = {}, .events = played.events};
  if (!graph.collectives.empty()) {
    const Dimension& world = graph.dimensions.front();
    const CollectiveCall call{.kind = graph.collectives.front().kind, .bytes = request.bytes,
                              .layout = &graph.layouts[world.layout_of_group.front()], .dimension = DimensionId(0)};
    tell_choice(**simulation, call, result);
    result.formula = formula_of(scenario_, call, known_->graphs());
  } else {
    tell_message_choice(**simulation, request.bytes, result);
  }
  result.ignored = (*simulation)->ignored();
  const bool kernels = (*simulation)->channels() != nullptr;
  const Duration issuing =
      time_to_issue(scenario_, request, ranks(request.gpus_per_host), kernels ? result.channels : 0);
  network_ = std::move(**simulation).take_network();
  if (played.run.outcome != RunOutcome::kFinished) return tl::unexpected(never_ends(request, played.run));
  const std::vector<TimePoint>& ends = played.run.record.iteration_end;
  const TimePoint begin = request.warmup > 0 ? ends[static_cast<std::size_t>(request.warmup) - 1] : TimePoint();
  const Duration played_time = (ends.back() - begin) / request.iterations;
  result.time = request.alone ? *request.alone + played_time : std::max(played_time, issuing);
  return result;
}

}  // namespace ringwright::configs
