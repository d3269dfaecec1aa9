#include "traces/goal/export.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::size_t kMostGoalOperations = 20'000'000;  // some GiB of text
constexpr std::size_t kMostGoalCpus = 255;

std::int64_t whole_nanos(Duration time) { return (time.count() + kPicosOfGoalTick / 2) / kPicosOfGoalTick; }

// A cpu in the making.
struct GoalCpu {
  Duration total;     // of its calcs
  TimePoint free_at;  // of cpus for work on no stream
};

class GoalRankExport {
 public:
  GoalRankExport(const ChakraExport& step, GoalCalls& calls, RankId rank)
      : step_(step),
        in_(step.inputs()),
        calls_(calls),
        rank_(rank),
        program_(in_.programs[in_.graph.program_of[rank.index()].index()]),
        ends_(program_.tasks.size()),
        cpus_(static_cast<std::size_t>(program_.stream_count)) {}

  // Why it cannot be written; empty when it can.
  [[nodiscard]] std::string write() {
    const ChakraTrace trace = step_.trace_of(rank_);
    issue_all(trace);
    for (const ChakraNode& node : trace.nodes) {
      if (ChakraExport::is_task(node.id)) write_task(trace, node);
    }
    put_in_order(out_);
    if (wrong_.empty() && cpus_.size() > kMostGoalCpus) {
      wrong_ = fmt::format("it needs {} cpus at once; GOAL numbers {}", cpus_.size(), kMostGoalCpus);
    }
    return wrong_;
  }
  [[nodiscard]] GoalRank take() && { return std::move(out_); }

 private:
  using Operations = std::vector<std::uint32_t>;

  // The moments at which the host issues tasks, as calcs one after another on a cpu of its own.
  void issue_all(const ChakraTrace& trace) {
    std::vector<std::pair<Duration, std::uint32_t>> issued;
    for (const ChakraNode& node : trace.nodes) {
      if (ChakraExport::is_task(node.id)) continue;
      issued.emplace_back(*trace.of(node).duration_picos, ChakraExport::task_of(node.id));
    }
    if (issued.empty()) return;
    std::ranges::sort(issued);
    issued_.assign(program_.tasks.size(), {});
    const std::size_t cpu = cpus_.size();
    cpus_.push_back({});
    Operations before;
    for (const auto& [time, task] : issued) {
      before = {calc(cpu, time - cpus_[cpu].total, before)};
      issued_[task] = before;
    }
  }

  void write_task(const ChakraTrace& trace, const ChakraNode& node) {
    const std::uint32_t task = ChakraExport::task_of(node.id);
    const Task& entry = program_.tasks[task];
    Operations before;
    for (const std::uint64_t id : trace.dependencies_of(node)) {
      const std::uint32_t other = ChakraExport::task_of(id);
      const Operations& ends = ChakraExport::is_task(id) ? ends_[other] : issued_[other];
      before.insert(before.end(), ends.begin(), ends.end());
    }
    std::ranges::sort(before);
    const auto repeated = std::ranges::unique(before);
    before.erase(repeated.begin(), repeated.end());
    switch (entry.kind) {
      case TaskKind::kCompute:
      case TaskKind::kSegment: ends_[task] = {calc_of(entry, task, in_.work_time[entry.detail], before)}; return;
      case TaskKind::kCollective: ends_[task] = collective(entry, task, std::move(before)); return;
      case TaskKind::kSend:
      case TaskKind::kReceive: ends_[task] = {message(entry, task, before)}; return;
    }
  }

  std::uint32_t add(const GoalOperation& operation, const Operations& before) {
    const auto number = static_cast<std::uint32_t>(out_.operations.size());
    out_.operations.push_back(operation);
    for (const std::uint32_t other : before) out_.requirements.push_back({.waits = number, .before = other});
    return number;
  }

  // Rounded so that the sum of a cpu's calcs is off by half a nanosecond at most.
  std::uint32_t calc(std::size_t cpu, Duration time, const Operations& before) {
    const Duration sum = cpus_[cpu].total + time;
    const std::int64_t nanos = whole_nanos(sum) - whole_nanos(cpus_[cpu].total);
    cpus_[cpu].total = sum;
    return add({.size = static_cast<std::uint64_t>(nanos), .cpu = static_cast<std::uint8_t>(cpu)}, before);
  }

  // On the cpu of its stream. Work on no stream waits for nobody: it gets the first cpu that is free when it starts.
  std::uint32_t calc_of(const Task& entry, std::uint32_t task, Duration time, const Operations& before) {
    if (entry.stream != kNoStream) return calc(entry.stream, time, before);
    const TimePoint start = step_.start_of(rank_, task);
    const auto cpu = std::ranges::find_if(loose_, [&](std::size_t c) { return cpus_[c].free_at <= start; });
    const std::size_t number = cpu != loose_.end() ? *cpu : cpus_.size();
    if (cpu == loose_.end()) {
      loose_.push_back(number);
      cpus_.push_back({});
    }
    cpus_[number].free_at = start + time;
    return calc(number, time, before);
  }

  Operations collective(const Task& entry, std::uint32_t task, Operations before) {
    const CollectiveSpec& spec = in_.graph.collectives[entry.detail];
    const Dimension& dimension = in_.graph.dimensions[entry.dimension.index()];
    const std::uint32_t number = dimension.group_of[rank_.index()];
    const std::vector<RankId>& group = dimension.groups[number];
    const CollectiveCall call{.kind = spec.kind,
                              .bytes = spec.bytes,
                              .layout = &in_.graph.layouts[dimension.layout_of_group[number]],
                              .dimension = entry.dimension};
    const Duration overhead = calls_.before(call);
    if (overhead > Duration()) before = {calc_of(entry, task, overhead, before)};
    const auto tag = static_cast<std::uint32_t>(in_.graph.dimensions.size()) * kChannels + entry.dimension.value;
    const auto steps = calls_.steps(call, group, dimension.index_in_group[rank_.index()]);
    if (!steps) {
      wrong_ = fmt::format("{} of dimension {}: {}", to_string(spec.kind), dimension.name, steps.error());
      return before;
    }
    for (const GoalStep& step : *steps) {
      Operations now;
      for (const GoalMessage& sent : step.sends) {
        now.push_back(add({.kind = GoalKind::kSend, .peer = group[sent.peer].value,
                           .size = static_cast<std::uint64_t>(sent.size.count()), .tag = tag}, before));
      }
      for (const GoalMessage& received : step.receives) {
        now.push_back(add({.kind = GoalKind::kReceive, .peer = group[received.peer].value,
                           .size = static_cast<std::uint64_t>(received.size.count()), .tag = tag}, {}));
      }
      // Without a send of its own the step still begins after the one before.
      if (step.sends.empty()) now.insert(now.end(), before.begin(), before.end());
      if (!now.empty()) before = std::move(now);
    }
    return before;
  }

  // A copy to or from the host's memory is a calc of its simulated time.
  std::uint32_t message(const Task& entry, std::uint32_t task, const Operations& before) {
    const MessageSpec& spec = in_.graph.messages[entry.detail];
    if (spec.path != DmaPath::kNone) {
      return calc_of(entry, task, step_.end_of(rank_, task) - step_.start_of(rank_, task), before);
    }
    const Dimension& dimension = in_.graph.dimensions[entry.dimension.index()];
    const std::uint32_t number = dimension.group_of[rank_.index()];
    const std::vector<RankId>& group = dimension.groups[number];
    const auto own = static_cast<int>(dimension.index_in_group[rank_.index()]);
    const int other = spec.peer_of(own, group.size());
    const RankId peer = group[static_cast<std::size_t>(other)];
    const GoalOperation operation{.kind = entry.kind == TaskKind::kSend ? GoalKind::kSend : GoalKind::kReceive,
                                  .peer = peer.value,
                                  .size = static_cast<std::uint64_t>(spec.bytes.count()),
                                  .tag = entry.dimension.value * kChannels + spec.channel};
    if (entry.kind == TaskKind::kReceive) return add(operation, before);
    const MessageCall call{.bytes = spec.bytes,
                           .layout = &in_.graph.layouts[dimension.layout_of_group[number]],
                           .from = own,
                           .to = other,
                           .dimension = entry.dimension};
    const Duration overhead = calls_.before(call, rank_, peer);
    if (overhead == Duration()) return add(operation, before);
    return add(operation, {calc_of(entry, task, overhead, before)});
  }

  const ChakraExport& step_;
  const ExportInputs& in_;
  GoalCalls& calls_;
  RankId rank_;
  const Program& program_;
  GoalRank out_;
  std::string wrong_;
  std::vector<Operations> ends_;    // by task: what ends when it does
  std::vector<Operations> issued_;  // by task: the host's calc; empty where the host is never late
  std::vector<GoalCpu> cpus_;       // first those of streams
  std::vector<std::size_t> loose_;  // cpus for work on no stream
};

}  // namespace

Result<GoalSchedule> export_goal(const ChakraExport& step, GoalCalls& calls) {
  GoalSchedule schedule;
  std::size_t operations = 0;
  for (std::size_t rank = 0; rank < step.ranks(); ++rank) {
    GoalRankExport made(step, calls, RankId(rank));
    if (const std::string wrong = made.write(); !wrong.empty()) {
      return tl::unexpected(
          failure("E624", fmt::format("rank {} cannot be written as a GOAL schedule: {}", rank, wrong), {},
                  "collectives of GOAL are messages between ranks: collectives: {DIMENSION: {algorithm: ring}}"));
    }
    schedule.ranks.push_back(std::move(made).take());
    operations += schedule.ranks.back().operations.size();
    if (operations > kMostGoalOperations) {
      return tl::unexpected(failure("E624",
                                    fmt::format("the schedule has more than {} operations with rank {} of {}",
                                                kMostGoalOperations, rank, step.ranks()),
                                    {}, "fewer ranks; or --chakra, whose nodes are whole collectives"));
    }
  }
  return schedule;
}

}  // namespace ringwright::traces
