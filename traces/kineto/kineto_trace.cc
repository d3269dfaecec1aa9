#include "traces/kineto/kineto_trace.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "traces/input/byte_stream.h"
#include "traces/input/decimal.h"
#include "traces/input/json_scanner.h"
#include "traces/input/log_text.h"
#include "traces/kineto/kernel_name.h"
#include "traces/kineto/kineto_calls.h"
#include "traces/kineto/kineto_event.h"
#include "traces/kineto/operator_times.h"
#include "traces/kineto/trace_walk.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kInvalidShown = 5;

// Kineto marks a step on each stream apart, from its first work to its last (GpuUserEventMap of
// libkineto/src/CuptiActivityProfiler.h): a step spans all its marks, up to the beginning of the next.
std::vector<ProfilerStep> joined_marks(const std::vector<ProfilerStep>& marks) {
  const auto end_of = [](const ProfilerStep& step) { return Duration(step.start_ns) * 1000 + step.time; };
  std::vector<ProfilerStep> steps;
  std::unordered_map<std::string, std::size_t> at;
  for (const ProfilerStep& mark : marks) {
    const auto [known, is_new] = at.try_emplace(mark.name, steps.size());
    if (is_new) {
      steps.push_back(mark);
      continue;
    }
    ProfilerStep& step = steps[known->second];
    const Duration end = std::max(end_of(step), end_of(mark));
    step.start_ns = std::min(step.start_ns, mark.start_ns);
    step.time = end - Duration(step.start_ns) * 1000;
  }
  std::ranges::stable_sort(steps, {}, &ProfilerStep::start_ns);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const Duration next = Duration(steps[i].start_ns) * 1000;
    if (end_of(steps[i - 1]) > next) steps[i - 1].time = next - Duration(steps[i - 1].start_ns) * 1000;
  }
  return steps;
}

// Reads event by event, so that memory is that of the events that are stored.
class KinetoReader final {
 public:
  KinetoReader(std::string file, JsonScanner scanner) : scanner_(std::move(scanner)) { trace_.file = std::move(file); }

  [[nodiscard]] Result<KinetoReading> read() {
    const TraceWalk walk = walk_profiler_trace(
        scanner_, {.event = [this](const JsonPiece& piece) { read_event(piece); },
                   .member = [this](const std::string& name, const JsonPiece& value) { read_member(name, value); }});
    if (!scanner_.damage().empty() && trace_.events == 0) {
      return tl::unexpected(failure("E255", fmt::format("'{}' cannot be read: {}", trace_.file, scanner_.damage()),
                                    {.file = trace_.file}));
    }
    if (!walk.begins) {
      return tl::unexpected(
          failure("E255", fmt::format("'{}' is no trace of a profiler: it begins with no JSON object", trace_.file),
                  {.file = trace_.file}));
    }
    found_events_ = walk.has_events;
    complete_ = walk.complete;
    if (auto stopped = why_stopped(); stopped.has_errors()) return tl::unexpected(std::move(stopped));
    return finish();
  }

 private:
  void read_member(const std::string& name, const JsonPiece& value) {
    if (name == "\"baseTimeNanoseconds\"") trace_.base_ns = scaled_decimal(trimmed(value.text), 0).value_or(0);
    if (name == "\"deviceProperties\"") trace_.gpu = parser_.device_name(value);
    if (name == "\"distributedInfo\"") {
      if (auto info = parser_.distributed(value)) distributed_ = std::move(*info);
    }
  }

  void read_event(const JsonPiece& piece) {
    ++trace_.events;
    if (parser_.event(piece, event_)) {
      keep();
    } else if (++invalid_ <= kInvalidShown) {
      warnings_.add({.severity = Severity::kWarning,
                     .code = "W256",
                     .place = {.file = trace_.file},
                     .message = fmt::format("the event at byte {} is left out: it is no valid JSON, or has no time",
                                            piece.offset)});
    }
  }

  void keep() {
    switch (event_.kind) {
      case EventKind::kOther: return;
      case EventKind::kKernel:
        keep_activity(GpuWork::kKernel);
        if (is_nccl_kernel(event_.name)) calls_.add_kernel(event_);
        return;
      case EventKind::kCopy: return keep_activity(GpuWork::kCopy);
      case EventKind::kMemset: return keep_activity(GpuWork::kMemset);
      case EventKind::kOperation:
        if (event_.name == "record_param_comms" || calls_collective(event_.name)) return calls_.add_record(event_);
        return operators_.add_operation(event_);
      case EventKind::kLaunch:
        index_.launches[event_.correlation] = {.thread = event_.thread, .start_ns = event_.start_ns};
        return calls_.add_launch(event_);
      case EventKind::kAnnotation:
        if (event_.name.starts_with("nccl:")) return calls_.add_record(event_);
        host_steps_.push_back(step());
        return;
      case EventKind::kGpuAnnotation: trace_.steps.push_back(step()); return;
    }
  }

  [[nodiscard]] ProfilerStep step() const {
    return {.name = std::string(event_.name), .start_ns = event_.start_ns, .time = Duration(event_.time_ps)};
  }

  void keep_activity(GpuWork work) {
    const auto [name, is_new] =
        index_.names.try_emplace(std::string(event_.name), static_cast<std::uint32_t>(trace_.names.size()));
    if (is_new) trace_.names.push_back(name->first);
    trace_.activities.push_back({.name = name->second,
                                 .work = work,
                                 .stream = event_.stream,
                                 .device = event_.device,
                                 .start_ns = event_.start_ns,
                                 .time = Duration(event_.time_ps),
                                 .correlation = event_.correlation,
                                 .operation = event_.operation});
  }

  [[nodiscard]] Diagnostics why_stopped() {
    Diagnostics problems;
    const auto fail = [&](const std::string& why, std::string hint = "") {
      problems.add({.code = "E255",
                    .place = {.file = trace_.file},
                    .message = fmt::format("'{}' {}", trace_.file, why),
                    .excerpt = "",
                    .hint = std::move(hint)});
    };
    if (scanner_.stop() == ScanStop::kTooLong) {
      fail(fmt::format("has a value of more than {} MiB at byte {}", kMostValueBytes >> 20U, scanner_.position()));
    } else if (!found_events_) {
      fail("has no traceEvents", "a trace is written by torch.profiler's export_chrome_trace");
    } else if (scanner_.stop() == ScanStop::kSyntax) {
      fail(fmt::format("is no valid JSON at byte {}", scanner_.position()));
    } else if (trace_.activities.empty()) {
      fail(fmt::format("has {} events and none of a GPU", trace_.events),
           "profile with ProfilerActivity.CUDA in `activities`");
    }
    return problems;
  }

  // Two traces of one process that were joined into one file. A branch of a CUDA graph may look the same, so that both
  // stay.
  void warn_of_repeated() {
    const auto same = [](const GpuActivity& a, const GpuActivity& b) {
      return a.name == b.name && a.stream == b.stream && a.device == b.device && a.time == b.time &&
             a.correlation == b.correlation;
    };
    std::size_t repeated = 0;
    const std::vector<GpuActivity>& work = trace_.activities;
    for (std::size_t i = 1; i < work.size(); ++i) {
      for (std::size_t j = i; j > 0 && work[j - 1].start_ns == work[i].start_ns; --j) {
        if (!same(work[j - 1], work[i])) continue;
        ++repeated;
        break;
      }
    }
    if (repeated == 0) return;
    warnings_.add(
        {.severity = Severity::kWarning,
         .code = "W256",
         .place = {.file = trace_.file},
         .message = fmt::format("{} of {} kernels and copies begin and end with an equal one on their stream; "
                                "where events are recorded twice, they are counted twice",
                                repeated, work.size())});
  }

  void warn_of_more() {
    if (!complete_ || scanner_.peek() == '\0') return;
    warnings_.add({.severity = Severity::kWarning,
                   .code = "W256",
                   .place = {.file = trace_.file},
                   .message = fmt::format("the trace ends at byte {}, and what follows is not read; of two traces in "
                                          "one file only the first is used",
                                          scanner_.position())});
  }

  void warn_of_end() {
    const bool ended = scanner_.stop() == ScanStop::kEnd || scanner_.stop() == ScanStop::kDamaged;
    if (complete_ || !ended) return;
    trace_.truncated = true;
    const std::string why = scanner_.stop() == ScanStop::kDamaged ? scanner_.damage() : "it ends early";
    warnings_.add({.severity = Severity::kWarning,
                   .code = "W256",
                   .place = {.file = trace_.file},
                   .message = fmt::format("the trace is cut off at byte {} ({}); its first {} events are used",
                                          scanner_.position(), why, trace_.events)});
  }

  [[nodiscard]] bool beyond_job(int rank) const { return trace_.world_size > 0 && rank >= trace_.world_size; }

  void warn_of_groups() {
    for (const CallGroup& group : trace_.calls.groups) {
      const int rank = trace_.calls.rank;
      if (rank >= 0 && !group.ranks.empty() && std::ranges::find(group.ranks, rank) == group.ranks.end()) {
        warnings_.add({.severity = Severity::kWarning,
                       .code = "W258",
                       .place = {.file = trace_.file},
                       .message = fmt::format("the trace is of rank {}, which is no member of process group '{}' ({})",
                                              rank, group.id, fmt::join(group.ranks, ", "))});
      }
      const auto beyond = std::ranges::find_if(group.ranks, [this](int rank) { return beyond_job(rank); });
      if (beyond == group.ranks.end()) continue;
      warnings_.add({.severity = Severity::kWarning,
                     .code = "W258",
                     .place = {.file = trace_.file},
                     .message = fmt::format("process group '{}' has rank {}, and distributedInfo states a job of {} "
                                            "ranks",
                                            group.id, *beyond, trace_.world_size)});
    }
  }

  // "rank3", "rank-3", "worker3_step": where the file does not state it.
  [[nodiscard]] int rank_in_name() const {
    const std::string_view name = std::string_view(trace_.file).substr(trace_.file.find_last_of('/') + 1);
    for (const std::string_view word : {"rank", "worker"}) {
      const std::size_t at = name.find(word);
      if (at == std::string_view::npos) continue;
      std::string_view digits = name.substr(at + word.size());
      if (digits.starts_with('-') || digits.starts_with('_') || digits.starts_with('.')) digits.remove_prefix(1);
      digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size()));
      if (const auto rank = parse_number<int>(digits)) return *rank;
    }
    return -1;
  }

  void warn_of_calls() {
    const auto unsized = std::ranges::count_if(
        trace_.calls.calls, [](const RecordedCall& call) { return !call.bytes && call.operation != "barrier"; });
    if (unsized == 0) return;
    warnings_.add({.severity = Severity::kWarning,
                   .code = "W259",
                   .place = {.file = trace_.file},
                   .message = fmt::format("{} of {} communication kernels have no size: the trace has no metadata that "
                                          "belong to them",
                                          unsized, trace_.calls.calls.size())});
  }

  [[nodiscard]] Result<KinetoReading> finish() {
    if (invalid_ > kInvalidShown) {
      warnings_.add({.severity = Severity::kWarning,
                     .code = "W256",
                     .place = {.file = trace_.file},
                     .message = fmt::format("{} events in all are left out", invalid_)});
    }
    warn_of_more();
    warn_of_end();
    trace_.backend = distributed_.backend;
    trace_.nccl_version = distributed_.nccl_version;
    trace_.world_size = distributed_.world_size;
    trace_.calls.file = trace_.file;
    trace_.calls.rank = distributed_.rank >= 0 ? distributed_.rank : rank_in_name();
    if (beyond_job(distributed_.rank)) {
      return tl::unexpected(failure(
          "E260",
          fmt::format("its distributedInfo states rank {} of a job of {} ranks", distributed_.rank, trace_.world_size),
          {.file = trace_.file}, "ranks count from 0"));
    }
    if (beyond_job(trace_.calls.rank)) trace_.calls.rank = -1;  // a number in the name that is no rank
    for (GpuActivity& activity : trace_.activities) {
      const auto launch = index_.launches.find(activity.correlation);
      if (activity.correlation == 0 || launch == index_.launches.end()) continue;  // 0: none is recorded
      activity.launched_ns = launch->second.start_ns;
      activity.launch_thread = launch->second.thread;
    }
    std::ranges::stable_sort(trace_.activities, {}, &GpuActivity::start_ns);
    warn_of_repeated();
    trace_.steps = joined_marks(trace_.steps.empty() ? host_steps_ : trace_.steps);
    operators_.resolve(trace_);
    Diagnostics problems;
    calls_.resolve(distributed_, trace_, problems);
    Diagnostics placed;
    for (Diagnostic problem : problems.all()) {
      problem.place.file = trace_.file;
      placed.add(std::move(problem));
    }
    if (placed.has_errors()) return tl::unexpected(std::move(placed));
    for (const Diagnostic& warning : placed.all()) warnings_.add(warning);
    warn_of_groups();
    warn_of_calls();
    return KinetoReading{.trace = std::move(trace_), .warnings = std::move(warnings_)};
  }

  JsonScanner scanner_;
  KinetoParser parser_;
  KinetoEvent event_;
  KinetoTrace trace_;
  DistributedInfo distributed_;
  CallCollector calls_;
  OperatorCollector operators_;
  std::vector<ProfilerStep> host_steps_;
  struct Index {  // looked up, never walked through
    std::unordered_map<std::string, std::uint32_t> names;
    std::unordered_map<std::uint64_t, HostLaunch> launches;  // by correlation
  };
  Index index_;
  Diagnostics warnings_;
  std::size_t invalid_ = 0;
  bool found_events_ = false, complete_ = false;
};

}  // namespace

Result<KinetoReading> read_kineto(const std::string& path) {
  auto stream = ByteStream::open(path);
  if (!stream) {
    return tl::unexpected(failure("E255", "cannot read '" + path + "': " + stream.error(), {.file = path}));
  }
  return KinetoReader(path, JsonScanner(std::move(*stream))).read();
}

Result<KinetoReading> read_kineto_text(const std::string& name, std::string_view text) {
  return KinetoReader(name, JsonScanner(text)).read();
}

}  // namespace ringwright::traces
