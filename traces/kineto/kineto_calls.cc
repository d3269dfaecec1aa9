#include "traces/kineto/kineto_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/kineto/element_type.h"
#include "traces/kineto/group_ranks.h"
#include "traces/kineto/kernel_name.h"

namespace ringwright::traces {
namespace {

constexpr int kMostGroupSize = 1'000'000;

// A kernel of sends and receives carries out what NCCL has no kernel for; barriers are small all-reduces.
bool may_run(std::string_view operation, std::string_view kernel) {
  if (kernel.empty() || kernel == operation) return true;
  if (kernel == "sendrecv") {
    return operation == "alltoall" || operation == "send" || operation == "recv" || operation == "gather" ||
           operation == "scatter";
  }
  return kernel == "all_reduce" && operation == "barrier";
}

// The buffers of an operator: its result, and what this rank contributes.
void take_buffers(const KinetoEvent& event, CommArguments& comm) {
  comm.collective = std::string(event.name);
  comm.received = event.inputs[0].elements;
  comm.sent = event.inputs[1].elements;
  comm.type = event.inputs[1].type;
  const std::string_view operation = operation_of(comm.collective);
  const std::int64_t whole = operation == "all_gather" ? *comm.received : *comm.sent;
  const std::int64_t part = operation == "all_gather" ? *comm.sent : *comm.received;
  if ((operation == "all_gather" || operation == "reduce_scatter") && part > 0 && whole % part == 0) {
    comm.size = whole / part;
  }
}

std::optional<int> repeated_rank(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  const auto found = std::ranges::adjacent_find(ranks);
  return found == ranks.end() ? std::nullopt : std::optional(*found);
}

int group_size(const CommArguments& comm) {
  return comm.size && *comm.size > 0 && *comm.size <= kMostGroupSize ? static_cast<int>(*comm.size) : 0;
}

// As nccl-tests counts, in elements: the larger of the rank's two buffers, also where the other one was recorded.
std::optional<std::int64_t> elements_of(const CommArguments& comm, std::string_view operation, int ranks) {
  if (!comm.sent && !comm.received) return std::nullopt;
  const std::int64_t sent = comm.sent.value_or(0), received = comm.received.value_or(0);
  if (sent < 0 || received < 0 || sent > kMostElements || received > kMostElements) return std::nullopt;
  std::int64_t elements = std::max(sent, received);
  if (operation == "all_gather") elements = std::max(elements, (Bytes(sent) * std::int64_t{ranks}).count());
  if (operation == "reduce_scatter") elements = std::max(elements, (Bytes(received) * std::int64_t{ranks}).count());
  if (elements > kMostElements) return std::nullopt;
  if (elements == 0) return std::nullopt;
  return elements;
}

}  // namespace

void CallCollector::add_kernel(const KinetoEvent& event) {
  kernels_.push_back({.name = std::string(event.name.substr(0, event.name.find('('))),
                      .comm = event.comm,
                      .correlation = event.correlation,
                      .operation = event.operation,
                      .start_ns = event.start_ns,
                      .time_ps = event.time_ps,
                      .stream = event.stream});
}

void CallCollector::add_record(const KinetoEvent& event) {
  CommRecord record{.comm = event.comm,
                    .thread = event.thread,
                    .start_ns = event.start_ns,
                    .end_ns = (Duration(event.start_ns) + Duration(event.time_ps / 1000)).count(),
                    .operation = event.operation};
  CommArguments& comm = record.comm;
  if (comm.rank_start && comm.rank_stride) strides_[comm.group] = {*comm.rank_start, *comm.rank_stride};
  if (is_base_collective(event.name)) {
    record.kind = RecordKind::kOperator;
    record.operation = 0;  // kernels have that of the record in it
    if (event.inputs.size() > 1) take_buffers(event, comm);
  } else if (calls_collective(event.name)) {
    record.kind = RecordKind::kCall;
    record.operation = 0;
    comm.collective = event.name;
  }
  if (comm.collective.empty() && event.name.starts_with("nccl:") && !event.inputs.empty() &&
      !event.inputs[0].sizes.empty()) {
    record.kind = RecordKind::kAnnotation;
    comm.collective = event.name.substr(5);
    comm.sent = event.inputs[0].elements;
    comm.type = event.inputs[0].type;
  }
  if (!comm.collective.empty() && !operation_of(comm.collective).empty()) records_.push_back(std::move(record));
}

void CallCollector::add_launch(const KinetoEvent& event) {
  launches_.push_back({.correlation = event.correlation, .thread = event.thread, .start_ns = event.start_ns});
}

// Of the records that began before the launch, on its thread, and had not ended, the one that knows most; of equal ones
// the last. Records are sorted.
CallCollector::FoundRecord CallCollector::record_during(const Launch& launch) const {
  auto after = std::ranges::upper_bound(records_, std::tuple(launch.thread, launch.start_ns), {},
                                        [](const CommRecord& r) { return std::tuple(r.thread, r.start_ns); });
  const CommRecord* best = nullptr;
  std::string_view operation;
  // Annotations lie within records, and these within operators: three steps back are enough.
  for (int i = 0; i < 3 && after != records_.begin(); ++i) {
    --after;
    if (after->thread != launch.thread) break;
    if (after->end_ns < launch.start_ns) continue;
    if (best == nullptr || after->kind > best->kind) best = &*after;
    if (after->kind == RecordKind::kCall || after->kind == RecordKind::kOperator) {
      operation = operation_of(after->comm.collective);
    }
  }
  if (best == nullptr || best->kind == RecordKind::kCall) return {};
  return {.record = best, .during_operator = operation_of(best->comm.collective) == operation};
}

void CallCollector::find_metadata() {
  std::ranges::stable_sort(launches_, {}, &Launch::correlation);
  std::ranges::stable_sort(records_, {}, [](const CommRecord& r) { return std::tuple(r.thread, r.start_ns); });
  std::map<std::uint64_t, const CommRecord*> by_operation;
  for (const CommRecord& record : records_) {
    if (record.operation != 0) by_operation.try_emplace(record.operation, &record);
  }
  for (NcclKernel& kernel : kernels_) {
    if (!kernel.comm.collective.empty()) continue;
    const std::string made = parse_nccl_kernel(kernel.name).operation;
    const CommRecord* found = nullptr;
    bool during = false;
    if (const auto at = by_operation.find(kernel.operation); at != by_operation.end()) found = at->second;
    const auto launch = std::ranges::lower_bound(launches_, kernel.correlation, {}, &Launch::correlation);
    if (found == nullptr && kernel.correlation != 0 && launch != launches_.end() &&
        launch->correlation == kernel.correlation) {
      const FoundRecord recorded = record_during(*launch);
      found = recorded.record;
      during = recorded.during_operator && made == "sendrecv";
    }
    // A kernel that was launched during an operator is the operator's, whatever its name: NCCL runs other collectives
    // in kernels that are named after sends and receives.
    if (found != nullptr && (during || may_run(operation_of(found->comm.collective), made))) kernel.comm = found->comm;
  }
}

// Kernels are sorted by start.
std::vector<Duration> CallCollector::times_with_others() const {
  std::vector<Duration> shared(kernels_.size());
  std::vector<std::size_t> running;
  const auto end_of = [this](std::size_t i) {
    return Duration(kernels_[i].start_ns) + Duration(kernels_[i].time_ps / 1000);
  };
  Duration now;
  const auto pass = [&](Duration until) {
    while (!running.empty() && now < until) {
      const auto first = std::ranges::min_element(running, {}, end_of);
      const Duration next = std::clamp(end_of(*first), now, until);
      if (running.size() > 1) {
        for (const std::size_t i : running) shared[i] += (next - now) * 1000;
      }
      now = next;
      if (end_of(*first) <= now) running.erase(first);
    }
    now = until;
  };
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    pass(Duration(kernels_[i].start_ns));
    running.push_back(i);
  }
  for (const std::size_t i : std::vector<std::size_t>(running)) pass(std::max(now, end_of(i)));
  return shared;
}

CallGroup CallCollector::group_of(const CommArguments& comm, const DistributedInfo& info, Diagnostics& problems) {
  CallGroup group{.id = comm.group, .description = comm.description, .size = group_size(comm), .ranks = {}};
  const auto config = std::ranges::find(info.groups, comm.group, &ProcessGroupConfig::name);
  GroupHints hints{.listed = comm.ranks, .size = group.size};
  if (config != info.groups.end()) hints.config = &*config;
  if (const auto stride = strides_.find(comm.group); stride != strides_.end()) {
    hints.start = stride->second.first;
    hints.stride = stride->second.second;
  }
  auto ranks = ranks_of_group(hints);
  if (ranks) {
    group.ranks = std::move(*ranks);
    if (const auto twice = repeated_rank(group.ranks)) {
      problems.add({.code = "E258",
                    .place = {},
                    .message = fmt::format("process group '{}' has rank {} twice: [{}]", comm.group, *twice,
                                           fmt::join(group.ranks, ", "))});
      return group;
    }
    if (group.size > 0 && !group.ranks.empty() && group.ranks.size() != static_cast<std::size_t>(group.size)) {
      problems.add({.severity = Severity::kWarning,
                    .code = "W258",
                    .place = {},
                    .message = fmt::format("process group '{}' has a size of {} and {} ranks, which are used: {}",
                                           comm.group, group.size, group.ranks.size(), comm.ranks)});
      group.size = static_cast<int>(group.ranks.size());
    }
    return group;
  }
  problems.add({.code = "E258",
                .place = {},
                .message = fmt::format("the ranks of process group '{}' are '{}', a cut list of {}, and neither Global "
                                       "rank start and stride nor distributedInfo.pg_config complete it",
                                       comm.group, comm.ranks, group.size),
                .excerpt = "",
                .hint = "profile with a newer PyTorch, which writes pg_config"});
  return group;
}

void CallCollector::resolve(const DistributedInfo& info, KinetoTrace& trace, Diagnostics& problems) {
  find_metadata();
  std::ranges::stable_sort(kernels_, {}, &NcclKernel::start_ns);
  const std::vector<Duration> shared = times_with_others();
  RankCalls& calls = trace.calls;
  std::map<std::tuple<std::string, std::string, int>, std::uint32_t> groups;
  std::map<std::pair<std::uint32_t, CallCounter>, std::int64_t> in_order;
  for (const NcclKernel& kernel : kernels_) {
    const NcclKernelName name = parse_nccl_kernel(kernel.name);
    const CommArguments& comm = kernel.comm;
    const bool is_world = comm.group.empty() && comm.ranks.empty() && comm.size == info.world_size;
    const bool has_group = comm.size.has_value() && !is_world;
    const int stated = has_group ? group_size(comm) : info.world_size;
    const auto [group, is_new] =
        groups.try_emplace({comm.group, comm.ranks, stated}, static_cast<std::uint32_t>(calls.groups.size()));
    if (is_new) {
      calls.groups.push_back(has_group ? group_of(comm, info, problems) : CallGroup{.id = "", .size = stated});
    }
    const int size = calls.groups[group->second].size;
    RecordedCall call{.group = group->second,
                      .operation = std::string(operation_of(comm.collective)),
                      .kernel = name.variant,
                      .dtype = comm.type,
                      .bytes = {},
                      .sequence = 0,
                      .start_ns = kernel.start_ns,
                      .time = Duration(kernel.time_ps),
                      .shared = shared[calls.calls.size()],
                      .other_buffer = {},
                      .stream = kernel.stream};
    if (call.operation.empty()) call.operation = name.operation.empty() ? "unknown" : name.operation;
    std::int64_t& counted = in_order[{group->second, counter_of(call.operation)}];
    call.sequence = comm.sequence.value_or(counted);
    ++counted;
    if (const auto elements = elements_of(comm, call.operation, size)) {
      if (const auto bytes = element_bytes(comm.type)) {
        call.bytes = Bytes(*elements * *bytes);
        if (comm.sent && comm.received) call.other_buffer = Bytes(std::min(*comm.sent, *comm.received)) * *bytes;
      } else {
        unknown_types_.try_emplace(comm.type, kernel.name);
      }
    }
    calls.calls.push_back(std::move(call));
  }
  for (const auto& [type, where] : unknown_types_) {
    problems.add(
        {.code = "E257",
         .place = {},
         .message = fmt::format("the element type '{}' of kernel '{}' is not known, so its bytes are not", type, where),
         .excerpt = "",
         .hint = "c10 names such as Float, BFloat16 and Float8_e4m3fn are known"});
  }
}

}  // namespace ringwright::traces
