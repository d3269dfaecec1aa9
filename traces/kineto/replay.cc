#include "traces/kineto/replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "traces/chakra/trace_builder.h"
#include "traces/kineto/kernel_name.h"
#include "traces/kineto/step_groups.h"
#include "traces/kineto/step_work.h"

namespace ringwright::traces {
namespace {

struct Type {
  std::string_view operation;
  ChakraCollective type;
};
constexpr std::array kTypes = {
    Type{"all_reduce", ChakraCollective::kAllReduce}, Type{"reduce", ChakraCollective::kReduce},
    Type{"all_gather", ChakraCollective::kAllGather}, Type{"reduce_scatter", ChakraCollective::kReduceScatter},
    Type{"broadcast", ChakraCollective::kBroadcast},  Type{"alltoall", ChakraCollective::kAllToAll},
};

std::optional<ChakraCollective> type_of(std::string_view operation) {
  const auto found = std::ranges::find(kTypes, operation, &Type::operation);
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

// Writes the step of one trace for the ranks that have the same groups: their names, by RankCalls::groups.
class StepWriter {
 public:
  StepWriter(const KinetoTrace& trace, const StepWork& work, double compute_scale)
      : trace_(trace), work_(work), compute_scale_(compute_scale), builder_(trace.file) {}

  [[nodiscard]] ChakraTrace write(const std::vector<std::string>& groups) && {
    for (const StepItem& item : work_.items) add(item, groups);
    if (work_.after_last > Duration()) {
      std::vector<std::uint64_t> all(node_of_.begin(), node_of_.end());
      add_host(work_.after_last, all);
    }
    return std::move(builder_).take();
  }

 private:
  void add(const StepItem& item, const std::vector<std::string>& groups) {
    std::vector<std::uint64_t> after;
    for (const std::size_t before : item.waits_for) after.push_back(node_of_[before]);
    if (item.host > Duration()) after = {add_host(item.host, after)};
    const GpuActivity& activity = trace_.activities[item.activity];
    ChakraAttributes given{.is_cpu_op = false, .stream = activity.stream};
    ChakraKind kind = ChakraKind::kCompute;
    if (item.call) {
      const RecordedCall& call = trace_.calls.calls[*item.call];
      kind = ChakraKind::kCollective;
      given.comm_type = type_of(call.operation);
      const std::string& group = groups[call.group];
      const auto members = static_cast<std::int64_t>(item.members);
      given.comm_size = call.operation == "all_gather" ? item.bytes / members : item.bytes;
      if (!group.empty()) given.pg_name = builder_.text(group);
    } else {
      given.duration_picos = communicates(trace_.names[activity.name]) ? item.time : scale(item.time, compute_scale_);
    }
    node_of_.push_back(add_node(trace_.names[activity.name], kind, after, given));
  }

  std::uint64_t add_host(Duration time, const std::vector<std::uint64_t>& after) {
    return add_node("host", ChakraKind::kCompute, after, {.is_cpu_op = true, .stream = -1, .duration_picos = time});
  }

  std::uint64_t add_node(std::string_view name, ChakraKind kind, const std::vector<std::uint64_t>& after,
                         const ChakraAttributes& given) {
    builder_.add({.id = ++last_, .name = name, .kind = kind, .data_dependencies = after, .attributes = &given});
    return last_;
  }

  const KinetoTrace& trace_;
  const StepWork& work_;
  double compute_scale_;
  ChakraTraceBuilder builder_;
  std::vector<std::uint64_t> node_of_;  // by item
  std::uint64_t last_ = 0;
};

// Overlap above this share of the step is named; below it, times were rounded.
constexpr std::int64_t kNamedOverlap = 100;

// Calls that are left as they were recorded, and work of a stream that overlaps.
Diagnostics warnings_of(const std::vector<KinetoTrace>& traces, const std::vector<StepWork>& steps) {
  Diagnostics warnings;
  const auto warn = [&](std::size_t trace, std::string code, std::string message) {
    warnings.add({.severity = Severity::kWarning,
                  .code = std::move(code),
                  .place = {.file = traces[trace].file},
                  .message = std::move(message)});
  };
  for (std::size_t t = 0; t < traces.size(); ++t) {
    const StepWork& step = steps[t];
    if (step.recorded_calls > 0) {
      warn(t, "W627",
           fmt::format("{} of {} communication kernels of the step take their recorded time, {:.3f} ms: their size is "
                       "not recorded, or they are messages",
                       step.recorded_calls, step.recorded_calls + step.calls, to_seconds(step.recorded_time) * 1e3));
    }
    if (step.overlap * kNamedOverlap > step.span) {
      warn(
          t, "W629",
          fmt::format("{} of {} kernels and copies of the step begin before earlier work of their stream has ended, by "
                      "{:.3f} ms in all: it counts once",
                      step.overlapping, step.items.size(), to_seconds(step.overlap) * 1e3));
    }
  }
  return warnings;
}

}  // namespace

bool is_replayed(const RecordedCall& call) {
  return call.bytes && *call.bytes > Bytes(0) && type_of(call.operation).has_value();
}

Result<KinetoJob> kineto_as_job(const std::vector<KinetoTrace>& traces, std::size_t ranks, double compute_scale) {
  KinetoJob made;
  const auto last = last_common_step(traces);
  if (!last) return tl::unexpected(last.error());
  std::vector<StepWork> steps;
  for (const KinetoTrace& trace : traces) {
    auto step = work_of_step(trace, *last);
    if (!step) return tl::unexpected(std::move(step.error()));
    steps.push_back(std::move(*step));
    made.recorded = std::max(made.recorded, steps.back().span);
  }
  auto groups = groups_of_ranks(traces, ranks, steps);
  if (!groups) return tl::unexpected(std::move(groups.error()));
  made.job.prefix = traces.front().file;
  std::map<std::pair<std::size_t, std::vector<std::string>>, std::uint32_t> known;
  for (const RankGroups& rank : groups->ranks) {
    const auto [at, fresh] =
        known.try_emplace({rank.trace, rank.names}, static_cast<std::uint32_t>(made.job.traces.size()));
    if (fresh) {
      made.job.traces.push_back(StepWriter(traces[rank.trace], steps[rank.trace], compute_scale).write(rank.names));
    }
    made.job.trace_of.push_back(at->second);
  }
  made.groups = std::move(groups->groups);
  made.warnings = warnings_of(traces, steps);
  for (const Diagnostic& warning : groups->warnings.all()) made.warnings.add(warning);
  return made;
}

}  // namespace ringwright::traces
