#include "traces/goal/goal_file.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "traces/chakra/check.h"
#include "traces/chakra/trace_builder.h"
#include "traces/goal/binary_form.h"
#include "traces/goal/text_reader.h"
#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kLargestGoalFile = std::size_t{1} << 30U;

// By operation: those of `list` that it waits for.
std::vector<std::vector<std::uint32_t>> awaited(std::size_t operations, const std::vector<GoalDependency>& list) {
  std::vector<std::vector<std::uint32_t>> result(operations);
  for (const GoalDependency& dependency : list) result[dependency.waits].push_back(dependency.before);
  return result;
}

// Ids of nodes: of an operation, and of the moment at which its own dependencies are met.
std::uint64_t goal_id(std::uint32_t operation) { return 2 * std::uint64_t{operation} + 1; }
std::uint64_t goal_begin_id(std::uint32_t operation) { return 2 * std::uint64_t{operation}; }
std::uint32_t goal_operation_of(std::uint64_t id) { return static_cast<std::uint32_t>(id / 2); }

class GoalRankTrace {
 public:
  GoalRankTrace(const GoalRank& rank, std::string name)
      : rank_(rank),
        builder_(std::move(name)),
        after_end_(awaited(rank.operations.size(), rank.requirements)),
        after_start_(awaited(rank.operations.size(), rank.start_requirements)),
        start_is_awaited_(rank.operations.size(), false) {
    for (const GoalDependency& dependency : rank.start_requirements) start_is_awaited_[dependency.before] = true;
  }

  [[nodiscard]] ChakraTrace write() && {
    for (std::uint32_t i = 0; i < rank_.operations.size(); ++i) {
      std::vector<std::uint64_t> before;
      for (const std::uint32_t other : after_end_[i]) before.push_back(goal_id(other));
      for (const std::uint32_t other : after_start_[i]) before.push_back(goal_begin_id(other));
      if (start_is_awaited_[i]) {
        begin(i, before);
        before = {goal_begin_id(i)};
      }
      operation(i, before);
    }
    return std::move(builder_).take();
  }

 private:
  void begin(std::uint32_t i, const std::vector<std::uint64_t>& before) {
    const GoalOperation& operation = rank_.operations[i];
    ChakraAttributes given;
    const bool on_cpu = operation.kind == GoalKind::kCalc;
    if (on_cpu) given.stream = operation.cpu;
    builder_.add({.id = goal_begin_id(i),
                  .name = "start",
                  .kind = on_cpu ? ChakraKind::kCompute : ChakraKind::kMetadata,
                  .control_dependencies = {},
                  .data_dependencies = before,
                  .attributes = &given});
  }

  void operation(std::uint32_t i, const std::vector<std::uint64_t>& before) {
    const GoalOperation& operation = rank_.operations[i];
    ChakraAttributes given;
    ChakraKind kind = ChakraKind::kCompute;
    if (operation.kind == GoalKind::kCalc) {
      given.stream = operation.cpu;
      given.duration_picos = Duration(static_cast<std::int64_t>(operation.size)) * kPicosOfGoalTick;
    } else {
      kind = operation.kind == GoalKind::kSend ? ChakraKind::kSend : ChakraKind::kReceive;
      given.comm_size = Bytes(static_cast<std::int64_t>(operation.size));
      given.comm_tag = operation.tag;
      (operation.kind == GoalKind::kSend ? given.comm_dst : given.comm_src) = operation.peer;
    }
    builder_.add({.id = goal_id(i),
                  .name = to_string(operation.kind),
                  .kind = kind,
                  .control_dependencies = {},
                  .data_dependencies = before,
                  .attributes = &given});
  }

  const GoalRank& rank_;
  ChakraTraceBuilder builder_;
  std::vector<std::vector<std::uint32_t>> after_end_;    // by operation
  std::vector<std::vector<std::uint32_t>> after_start_;  // the same
  std::vector<bool> start_is_awaited_;                   // by operation
};

std::string goal_statement(const GoalOperation& operation) {
  const std::string cpu = operation.cpu > 0 ? fmt::format(" cpu {}", operation.cpu) : "";
  if (operation.kind == GoalKind::kCalc) return fmt::format("calc {}{}", operation.size, cpu);
  return fmt::format("{} {}b {} {}{}{}{}", to_string(operation.kind), operation.size,
                     operation.kind == GoalKind::kSend ? "to" : "from", operation.peer,
                     operation.tag > 0 ? fmt::format(" tag {}", operation.tag) : "", cpu,
                     operation.nic > 0 ? fmt::format(" nic {}", operation.nic) : "");
}

void append_goal_rank(std::string& to, const GoalRank& rank) {
  std::vector<bool> labelled(rank.operations.size(), false);
  for (const auto* list : {&rank.requirements, &rank.start_requirements}) {
    for (const GoalDependency& dependency : *list) labelled[dependency.waits] = labelled[dependency.before] = true;
  }
  for (std::size_t i = 0; i < rank.operations.size(); ++i) {
    to += fmt::format("  {}{}\n", labelled[i] ? fmt::format("l{}: ", i) : "", goal_statement(rank.operations[i]));
  }
  for (const GoalDependency& d : rank.requirements) to += fmt::format("  l{} requires l{}\n", d.waits, d.before);
  for (const GoalDependency& d : rank.start_requirements) to += fmt::format("  l{} irequires l{}\n", d.waits, d.before);
}

// Totals of a schedule.
struct GoalTotals {
  std::array<std::int64_t, 4> operations{};  // by GoalKind
  std::array<std::int64_t, 4> sizes{};       // the same: bytes, nanoseconds
  std::int64_t dependencies = 0;
  int cpus = 0;
  std::set<std::uint32_t> tags;
};

GoalTotals totals_of(const GoalSchedule& schedule) {
  GoalTotals totals;
  for (const GoalRank& rank : schedule.ranks) {
    totals.dependencies += static_cast<std::int64_t>(rank.requirements.size() + rank.start_requirements.size());
    for (const GoalOperation& operation : rank.operations) {
      const auto kind = static_cast<std::size_t>(operation.kind);
      ++totals.operations[kind];
      totals.sizes[kind] += static_cast<std::int64_t>(operation.size);
      totals.cpus = std::max(totals.cpus, operation.cpu + 1);
      if (operation.kind != GoalKind::kCalc) totals.tags.insert(operation.tag);
    }
  }
  return totals;
}

// Sizes that the binary form may hold and no simulation can.
Diagnostics check_sizes(const GoalSchedule& schedule) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50U;
  constexpr std::uint64_t kMostNanos = 3'600'000'000'000'000;
  Diagnostics problems;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::vector<GoalOperation>& operations = schedule.ranks[rank].operations;
    for (std::uint32_t i = 0; i < operations.size() && problems.error_count() < 100; ++i) {
      const bool calc = operations[i].kind == GoalKind::kCalc;
      if (operations[i].size <= (calc ? kMostNanos : kMostBytes)) continue;
      problems.add({.code = "E390",
                    .place = {.file = schedule.file},
                    .message = fmt::format("{} has {} {}; at most {} can be simulated", describe(schedule, rank, i),
                                           operations[i].size, calc ? "ns" : "bytes", calc ? "1000 h" : "1 PiB")});
    }
  }
  return problems;
}

// Operations of which each waits for the next one: "rank 0, line 4 (calc) -> rank 0, line 5 (calc) -> ...".
std::string describe_cycle_of(const GoalSchedule& schedule, std::size_t rank, const std::vector<std::uint64_t>& ids) {
  std::vector<std::uint32_t> cycle;
  for (const std::uint64_t id : ids) {
    const std::uint32_t operation = goal_operation_of(id);
    if (cycle.empty() || cycle.back() != operation) cycle.push_back(operation);
  }
  if (cycle.size() > 1 && cycle.back() == cycle.front()) cycle.pop_back();
  constexpr std::size_t kShown = 16;
  std::string text = cycle.size() == 1 ? "an operation waits for itself: "
                                       : fmt::format("{} operations wait for each other: ", cycle.size());
  for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i) text += describe(schedule, rank, cycle[i]) + " -> ";
  if (cycle.size() > kShown) text += "... -> ";
  return text + describe(schedule, rank, cycle.front());
}

}  // namespace

bool looks_like_goal(std::string_view beginning) {
  return looks_like_goal_binary(beginning) || looks_like_goal_text(beginning);
}

Result<GoalSchedule> read_goal(const std::string& path) {
  const auto content = read_all(path, kLargestGoalFile);
  if (!content) return tl::unexpected(failure("E390", "cannot read the schedule: " + content.error(), {.file = path}));
  const bool binary = looks_like_goal_binary(*content);
  auto schedule = binary ? parse_goal_binary(path, *content) : parse_goal_text(path, *content);
  if (!schedule) return schedule;
  if (Diagnostics problems = check_sizes(*schedule); problems.has_errors()) return tl::unexpected(std::move(problems));
  return schedule;
}

// Of the first ranks that have one.
Diagnostics find_goal_cycles(const GoalSchedule& schedule) {
  constexpr std::size_t kMostErrors = 20;
  Diagnostics problems;
  for (std::size_t rank = 0; rank < schedule.ranks.size() && problems.error_count() < kMostErrors; ++rank) {
    const std::vector<std::uint64_t> ids = find_cycle(GoalRankTrace(schedule.ranks[rank], schedule.file).write());
    if (ids.empty()) continue;
    problems.add({.code = "E249",
                  .place = {.file = schedule.file},
                  .message = describe_cycle_of(schedule, rank, ids),
                  .hint = "no operation may require itself, directly or through others"});
  }
  return problems;
}

FileSummary summarise_goal_file(const std::string& path) {
  FileSummary summary;
  auto schedule = read_goal(path);
  if (!schedule) {
    summary.problems = std::move(schedule.error());
    return summary;
  }
  const GoalTotals totals = totals_of(*schedule);
  const auto of = [](const auto& list, GoalKind kind) { return list[static_cast<std::size_t>(kind)]; };
  summary.facts = {{.name = "ranks", .value = static_cast<std::int64_t>(schedule->ranks.size())},
                   {.name = "dependencies", .value = totals.dependencies},
                   {.name = "cpus of a rank", .value = std::int64_t{totals.cpus}},
                   {.name = "tags", .value = static_cast<std::int64_t>(totals.tags.size())}};
  SummaryTable table{.title = "operations of all ranks", .columns = {"operation", "count", "total"}, .rows = {}};
  for (const GoalKind kind : {GoalKind::kCalc, GoalKind::kSend, GoalKind::kReceive}) {
    const auto total = of(totals.sizes, kind);
    const bool is_time = kind == GoalKind::kCalc;
    table.rows.push_back({std::string(to_string(kind)), of(totals.operations, kind),
                          is_time ? SummaryValue(Duration(total) * kPicosOfGoalTick) : SummaryValue(Bytes(total))});
  }
  summary.tables.push_back(std::move(table));
  summary.problems = find_goal_cycles(*schedule);
  return summary;
}

std::string goal_text(const GoalSchedule& schedule) {
  std::string text = fmt::format("num_ranks {}\n", schedule.ranks.size());
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += fmt::format("\nrank {} {{\n", rank);
    append_goal_rank(text, schedule.ranks[rank]);
    text += "}\n";
  }
  return text;
}

ChakraJob goal_as_job(const GoalSchedule& schedule) {
  ChakraJob job{.prefix = schedule.file, .traces = {}, .trace_of = {}};
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    job.trace_of.push_back(static_cast<std::uint32_t>(rank));
    job.traces.push_back(GoalRankTrace(schedule.ranks[rank], fmt::format("{}, rank {}", schedule.file, rank)).write());
  }
  return job;
}

}  // namespace ringwright::traces
