#include "traces/chakra/summary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/chakra/check.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/chakra/problem_list.h"
#include "traces/chakra/reader.h"
#include "traces/chakra/replay_calls.h"
#include "traces/chakra/replay_messages.h"

namespace ringwright::traces {
namespace {

constexpr std::int64_t kPicosPerMicro = 1'000'000;

Duration duration_of(const ChakraTrace& trace, const ChakraNode& node) {
  const std::optional<Duration>& exact = trace.of(node).duration_picos;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / kPicosPerMicro;
  return exact ? *exact : Duration(kPicosPerMicro) * static_cast<std::int64_t>(std::min(node.duration_micros, kMost));
}

struct Tally {
  std::int64_t count = 0;
  Bytes bytes;
  Duration time;
};

// Sums over traces, each counted once for every rank that has it.
class ChakraTallies {
 public:
  void add(const ChakraTrace& trace, std::int64_t ranks) {
    for (const ChakraNode& node : trace.nodes) add_node(trace, node, ranks);
    dependencies_ += static_cast<std::int64_t>(trace.dependencies.size()) * ranks;
    for (const auto& [name, count] : trace.other_attributes) others_[name] += static_cast<std::int64_t>(count) * ranks;
  }

  void report(FileSummary& summary) const {
    summary.facts.push_back({.name = "nodes", .value = nodes_});
    summary.facts.push_back({.name = "dependencies", .value = dependencies_});
    summary.facts.push_back({.name = "computing on GPUs", .value = gpu_time_});
    if (cpu_time_ > Duration()) summary.facts.push_back({.name = "computing on CPUs", .value = cpu_time_});
    if (operations_ > 0) {
      summary.facts.push_back({.name = "nodes with num_ops", .value = with_operations_});
      summary.facts.push_back({.name = "num_ops", .value = operations_});
    }
    summary.tables.push_back(kinds_table());
    if (!collectives_.empty()) summary.tables.push_back(collectives_table());
    if (!others_.empty()) summary.tables.push_back(others_table());
  }

 private:
  void add_node(const ChakraTrace& trace, const ChakraNode& node, std::int64_t ranks) {
    const ChakraAttributes& given = trace.of(node);
    const Duration time = duration_of(trace, node) * ranks;
    const Bytes bytes = given.comm_size.value_or(Bytes()) * ranks;
    const auto tally = [&](Tally& to) {
      to.count += ranks;
      to.bytes += bytes;
      to.time += time;
    };
    nodes_ += ranks;
    tally(kinds_[static_cast<std::size_t>(node.kind)]);
    if (node.kind == ChakraKind::kCollective) {
      const std::string type = given.comm_type ? std::string(to_string(*given.comm_type)) : "without comm_type";
      tally(collectives_[{type, std::string(trace.group_of(node)), given.comm_size.value_or(Bytes())}]);
    }
    if (node.kind != ChakraKind::kCompute) return;
    (given.is_cpu_op.value_or(false) ? cpu_time_ : gpu_time_) += time;
    if (!given.num_ops) return;
    with_operations_ += ranks;
    if (__builtin_add_overflow(operations_, *given.num_ops, &operations_)) operations_ = INT64_MAX;
  }

  [[nodiscard]] SummaryTable kinds_table() const {
    SummaryTable table{.title = "nodes by kind", .columns = {"kind", "nodes", "bytes", "duration"}, .rows = {}};
    for (std::size_t kind = 0; kind < kChakraKinds; ++kind) {
      const Tally& tally = kinds_[kind];
      if (tally.count == 0) continue;
      table.rows.push_back(
          {std::string(to_string(static_cast<ChakraKind>(kind))), tally.count, tally.bytes, tally.time});
    }
    return table;
  }

  [[nodiscard]] SummaryTable collectives_table() const {
    SummaryTable table{
        .title = "collectives", .columns = {"collective", "group", "size", "calls", "bytes", "duration"}, .rows = {}};
    for (const auto& [key, tally] : collectives_) {
      const auto& [type, group, size] = key;
      table.rows.push_back({type, group, size, tally.count, tally.bytes, tally.time});
    }
    return table;
  }

  [[nodiscard]] SummaryTable others_table() const {
    SummaryTable table{.title = "other attributes", .columns = {"name", "nodes"}, .rows = {}};
    for (const auto& [name, count] : others_) table.rows.push_back({name, count});
    return table;
  }

  std::array<Tally, kChakraKinds> kinds_{};
  std::map<std::tuple<std::string, std::string, Bytes>, Tally> collectives_;
  std::map<std::string, std::int64_t> others_;
  std::int64_t nodes_ = 0;
  std::int64_t dependencies_ = 0;
  std::int64_t operations_ = 0;
  std::int64_t with_operations_ = 0;
  Duration gpu_time_;
  Duration cpu_time_;
};

void add_all(const Diagnostics& found, Diagnostics& to) {
  for (const Diagnostic& problem : found.all()) to.add(problem);
}

void add_version(const ChakraTrace& trace, FileSummary& summary) {
  summary.facts.push_back({.name = "version", .value = trace.version.empty() ? "not given" : trace.version});
  SummaryTable table{.title = "attributes of the file", .columns = {"name", "value"}, .rows = {}};
  for (const auto& [name, value] : trace.facts) table.rows.push_back({name, value});
  if (!table.rows.empty()) summary.tables.push_back(std::move(table));
}

void add_groups(const ChakraJob& job, FileSummary& summary) {
  const auto groups = groups_in_traces(job);
  if (!groups) return add_all(groups.error(), summary.problems);
  if (groups->groups.empty()) return;
  SummaryTable table{.title = "process groups", .columns = {"group", "ranks"}, .rows = {}};
  for (const ChakraGroup& group : groups->groups) {
    table.rows.push_back({group.name, static_cast<std::int64_t>(group.ranks.size())});
  }
  summary.tables.push_back(std::move(table));
}

void add_check(const ChakraTrace& trace, FileSummary& summary) {
  if (const auto order = order_nodes(trace); !order) add_all(order.error(), summary.problems);
}

// Sends and receives without partners, where all of them can be read.
void add_matching(const ChakraJob& job, FileSummary& summary) {
  std::vector<TraceCalls> calls;
  for (const ChakraTrace& trace : job.traces) {
    const auto order = order_nodes(trace);
    ProblemList problems(trace.file);
    if (order) calls.push_back(calls_of(trace, *order, problems));
    if (!order || problems.has_errors()) return;
  }
  if (const auto queues = match_messages(job, {}, calls); !queues) add_all(queues.error(), summary.problems);
}

}  // namespace

FileSummary summarise_chakra_file(const std::string& path) {
  FileSummary summary;
  auto reading = read_chakra(path);
  if (!reading) {
    summary.problems = std::move(reading.error());
    return summary;
  }
  summary.problems = std::move(reading->warnings);
  const ChakraTrace& trace = reading->trace;
  add_version(trace, summary);
  ChakraTallies tallies;
  tallies.add(trace, 1);
  tallies.report(summary);
  add_check(trace, summary);
  return summary;
}

FileSummary summarise_chakra_job(const std::string& prefix) {
  FileSummary summary;
  auto reading = read_chakra_job(prefix);
  if (!reading) {
    summary.problems = std::move(reading.error());
    return summary;
  }
  summary.problems = std::move(reading->warnings);
  const ChakraJob& job = reading->job;
  summary.facts = {{.name = "ranks", .value = static_cast<std::int64_t>(job.ranks())},
                   {.name = "different traces", .value = static_cast<std::int64_t>(job.traces.size())}};
  add_version(job.traces.front(), summary);
  std::vector<std::int64_t> ranks_of(job.traces.size(), 0);
  for (const std::uint32_t trace : job.trace_of) ++ranks_of[trace];
  ChakraTallies tallies;
  for (std::size_t t = 0; t < job.traces.size(); ++t) {
    tallies.add(job.traces[t], ranks_of[t]);
    if (summary.problems.error_count() < 100) add_check(job.traces[t], summary);
  }
  tallies.report(summary);
  add_groups(job, summary);
  add_matching(job, summary);
  return summary;
}

}  // namespace ringwright::traces
