#include "traces/kineto/step_work.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/kineto/kernel_name.h"

namespace ringwright::traces {
namespace {

// Of a trace's clock, in nanoseconds from the beginning of the step.
struct StepSpan {
  std::int64_t begin = std::numeric_limits<std::int64_t>::min();
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

// The last one of this name; null where there is none.
const ProfilerStep* find_step(const KinetoTrace& trace, const std::string& name) {
  const auto found = std::find_if(trace.steps.rbegin(), trace.steps.rend(),
                                  [&](const ProfilerStep& step) { return step.name == name; });
  return found == trace.steps.rend() ? nullptr : &*found;
}

StepSpan span_of(const ProfilerStep* step) {
  if (step == nullptr) return {};
  return {.begin = step->start_ns, .end = step->start_ns + step->time.count() / 1000};
}

class StepReader {
 public:
  StepReader(const KinetoTrace& trace, const ProfilerStep* marked)
      : trace_(trace), marked_(marked), step_(span_of(marked)) {
    for (const std::string& name : trace.names) communicates_.push_back(is_nccl_kernel(name));
    for (std::size_t i = 0; i < trace.calls.calls.size(); ++i) {
      const RecordedCall& call = trace.calls.calls[i];
      calls_[{call.start_ns, call.time, call.stream}] = i;
    }
  }

  [[nodiscard]] Result<StepWork> read() {
    for (std::size_t i = 0; i < trace_.activities.size(); ++i) {
      const GpuActivity& activity = trace_.activities[i];
      if (activity.start_ns < step_.begin || activity.start_ns >= step_.end) continue;
      if (activity.device != trace_.activities.front().device) {
        return tl::unexpected(failure("E627", "the trace holds work of several GPUs", {.file = trace_.file},
                                      "one process and one trace for each GPU"));
      }
      if (work_.items.empty() && marked_ == nullptr) step_.begin = activity.start_ns;
      add(i);
    }
    if (work_.items.empty()) {
      return tl::unexpected(failure("E627", "the GPU does nothing in the last step that the trace marks",
                                    {.file = trace_.file}, "profile one more step"));
    }
    const Duration marked = marked_ == nullptr ? last_end_ : marked_->time;
    work_.span = std::max(marked, last_end_);
    work_.after_last = work_.span - last_end_;
    return std::move(work_);
  }

 private:
  // From the beginning of the step.
  [[nodiscard]] Duration start_of(const GpuActivity& activity) const {
    return Duration((activity.start_ns - step_.begin) * 1000);
  }
  [[nodiscard]] const GpuActivity& activity_of(std::size_t item) const {
    return trace_.activities[work_.items[item].activity];
  }
  [[nodiscard]] Duration end_of(std::size_t item) const { return work_.items[item].end; }

  void add(std::size_t index) {
    const GpuActivity& activity = trace_.activities[index];
    StepItem item{.activity = index};
    find_call(activity, item);
    const Duration start = start_of(activity);
    std::vector<std::size_t>& stream = streams_[activity.stream];
    Duration ready;
    if (!stream.empty()) {
      item.waits_for.push_back(stream.back());
      ready = end_of(stream.back());
    }
    const auto other = item.call ? caller_of(activity, start) : latest_before(activity, ready, start);
    if (other) {
      item.waits_for.push_back(*other);
      ready = std::max(ready, end_of(*other));
    }
    item.host = std::max(Duration(), start - ready);
    follow(activity, stream.empty() ? start : std::max(start, end_of(stream.back())), item);
    last_end_ = std::max(last_end_, item.end);
    stream.push_back(work_.items.size());
    work_.items.push_back(std::move(item));
  }

  // A stream runs in order: what overlaps earlier work of it counts once.
  void follow(const GpuActivity& activity, Duration free, StepItem& item) {
    const Duration start = start_of(activity);
    item.end = std::max(free, start + activity.time);
    item.time = item.end - free;
    if (item.time == activity.time) return;
    ++work_.overlapping;
    work_.overlap += activity.time - item.time;
  }

  void find_call(const GpuActivity& activity, StepItem& item) {
    if (!communicates_[activity.name]) return;
    const auto found = calls_.find({activity.start_ns, activity.time, activity.stream});
    if (found != calls_.end() && is_replayed(trace_.calls.calls[found->second])) {
      item.call = found->second;
      item.bytes = *trace_.calls.calls[found->second].bytes;
      ++work_.calls;
    } else {
      ++work_.recorded_calls;
      work_.recorded_time += activity.time;
    }
  }

  // The work, no communication, of another stream that was launched last before this and has ended.
  [[nodiscard]] std::optional<std::size_t> caller_of(const GpuActivity& activity, Duration start) const {
    std::optional<std::size_t> latest;
    for (const auto& [number, stream] : streams_) {
      if (number == activity.stream) continue;
      for (std::size_t i = stream.size(); i-- > 0;) {
        const GpuActivity& before = activity_of(stream[i]);
        const bool launched_before = activity.launched_ns == 0 || before.launched_ns <= activity.launched_ns;
        if (communicates_[before.name] || end_of(stream[i]) > start || !launched_before) continue;
        const auto launched_later = [&](std::size_t known) {
          const GpuActivity& other = activity_of(known);
          return std::pair(before.launched_ns, before.start_ns) > std::pair(other.launched_ns, other.start_ns);
        };
        if (!latest || launched_later(*latest)) latest = stream[i];
        break;
      }
    }
    return latest;
  }

  // The work of another stream that ended last, after `ready`, when this had been launched already.
  [[nodiscard]] std::optional<std::size_t> latest_before(const GpuActivity& activity, Duration ready,
                                                         Duration start) const {
    std::optional<std::size_t> latest;
    for (const auto& [number, stream] : streams_) {
      if (number == activity.stream) continue;
      for (std::size_t i = stream.size(); i-- > 0;) {
        const Duration end = end_of(stream[i]);
        if (end > start) continue;
        const bool waiting = activity.launched_ns == 0 || Duration((activity.launched_ns - step_.begin) * 1000) < end;
        if (end > ready && waiting && (!latest || end > end_of(*latest))) latest = stream[i];
        break;
      }
    }
    return latest;
  }

  const KinetoTrace& trace_;
  const ProfilerStep* marked_;
  StepSpan step_;
  std::vector<bool> communicates_;                                                 // by name
  std::map<std::tuple<std::int64_t, Duration, std::int32_t>, std::size_t> calls_;  // by start, time and stream
  std::map<std::int32_t, std::vector<std::size_t>> streams_;                       // items in order
  Duration last_end_;
  StepWork work_;
};

}  // namespace

Result<std::string> last_common_step(const std::vector<KinetoTrace>& traces) {
  const auto& first = traces.front().steps;
  if (std::ranges::all_of(traces, [](const KinetoTrace& trace) { return trace.steps.empty(); })) return std::string();
  for (auto step = first.rbegin(); step != first.rend(); ++step) {
    const auto marks = [&](const KinetoTrace& trace) { return find_step(trace, step->name) != nullptr; };
    if (std::ranges::all_of(traces, marks)) return step->name;
  }
  const auto last_of = [](const KinetoTrace& trace) {
    return trace.steps.empty() ? std::string("no step") : "'" + trace.steps.back().name + "'";
  };
  const auto other = std::ranges::find_if(traces, [&](const KinetoTrace& trace) {
    return first.empty() ? !trace.steps.empty() : find_step(trace, first.back().name) == nullptr;
  });
  return tl::unexpected(failure("E627",
                                fmt::format("no step is marked in all traces: the last is {} here, and {} in {}",
                                            last_of(traces.front()), last_of(*other), other->file),
                                {.file = traces.front().file}, "profile the same step on all ranks"));
}

Result<StepWork> work_of_step(const KinetoTrace& trace, const std::string& name) {
  return StepReader(trace, find_step(trace, name)).read();
}

}  // namespace ringwright::traces
