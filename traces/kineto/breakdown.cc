#include "traces/kineto/breakdown.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ringwright::traces {
namespace {

// What a GPU does at a moment, as bits.
constexpr unsigned kComputes = 1;
constexpr unsigned kCommunicates = 2;
constexpr unsigned kCopies = 4;
constexpr std::size_t kMixtures = 8;

using MixtureTimes = std::array<Duration, kMixtures>;

struct Change {
  Duration at;
  int bit = 0;  // index of the bit
  int by = 0;   // +1: one more activity of this kind, -1: one less
};

Duration since(std::int64_t origin_ns, std::int64_t ns) {
  return (Duration(ns) - Duration(origin_ns)) * 1000;
}

// The mixtures of a span: a walk over the changes, with counts of running activities.
class Walk final {
 public:
  explicit Walk(std::vector<Change> changes) : changes_(std::move(changes)) {
    std::ranges::stable_sort(changes_, {}, &Change::at);
  }

  // Spans must be asked for in the order of their begins, and not overlap.
  [[nodiscard]] MixtureTimes times(Duration begin, Duration end) {
    MixtureTimes times{};
    advance(begin, times);
    times = {};
    advance(end, times);
    return times;
  }

 private:
  void advance(Duration to, MixtureTimes& times) {
    while (next_ < changes_.size() && changes_[next_].at <= to) {
      const Change& change = changes_[next_++];
      pass(change.at, times);
      running_[static_cast<std::size_t>(change.bit)] += change.by;
    }
    pass(to, times);
  }
  void pass(Duration to, MixtureTimes& times) {
    if (to <= now_) return;
    std::size_t mixture = 0;
    for (std::size_t bit = 0; bit < running_.size(); ++bit) mixture |= running_[bit] > 0 ? std::size_t{1} << bit : 0;
    times[mixture] += to - now_;
    now_ = to;
  }

  std::vector<Change> changes_;
  std::size_t next_ = 0;
  std::array<int, 3> running_{};
  Duration now_ = Duration(-Duration::kLargest / 2);
};

TimeShares shares_of(std::string name, Duration span, const MixtureTimes& times) {
  TimeShares shares{.name = std::move(name), .span = span};
  for (std::size_t mixture = 0; mixture < kMixtures; ++mixture) {
    const Duration time = times[mixture];
    const bool computes = (mixture & kComputes) != 0, communicates = (mixture & kCommunicates) != 0;
    if (computes) shares.computing += time;
    if (communicates) shares.communicating += time;
    if (communicates && !computes) shares.exposed += time;
    if (mixture == kCopies) shares.copying += time;
    if (mixture == 0) shares.idle += time;
  }
  return shares;
}

void add_kernels(const KinetoTrace& trace, const std::vector<WorkFamily>& families, KinetoBreakdown& result) {
  std::vector<KernelTime> by_name(trace.names.size());
  std::array<FamilyTime, kWorkFamilies> by_family{};
  for (std::size_t i = 0; i < by_name.size(); ++i) by_name[i].name = trace.names[i];
  for (const GpuActivity& activity : trace.activities) {
    if (activity.work != GpuWork::kKernel) {
      const bool copy = activity.work == GpuWork::kCopy;
      ++(copy ? result.copy_count : result.memset_count);
      (copy ? result.copies : result.memsets) += activity.time;
      continue;
    }
    FamilyTime& family = by_family[static_cast<std::size_t>(families[activity.name])];
    family.family = families[activity.name];
    ++by_name[activity.name].count;
    by_name[activity.name].time += activity.time;
    ++family.count;
    family.time += activity.time;
  }
  for (const FamilyTime& family : by_family) {
    if (family.count > 0) result.families.push_back(family);
  }
  for (KernelTime& kernel : by_name) {
    if (kernel.count > 0) result.kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(result.families, std::ranges::greater(), &FamilyTime::time);
  std::ranges::stable_sort(result.kernels, std::ranges::greater(), &KernelTime::time);
}

}  // namespace

KinetoBreakdown break_down(const KinetoTrace& trace) {
  KinetoBreakdown result;
  if (trace.activities.empty()) return result;
  std::vector<WorkFamily> families;
  for (const std::string& name : trace.names) families.push_back(family_of(name));
  std::set<std::int32_t> devices;
  std::set<std::pair<std::int32_t, std::int32_t>> streams;
  std::vector<Change> changes;
  const std::int64_t origin = trace.activities.front().start_ns;
  Duration last;
  for (const GpuActivity& activity : trace.activities) {
    devices.insert(activity.device);
    streams.insert({activity.device, activity.stream});
    const bool kernel = activity.work == GpuWork::kKernel;
    const bool communicates = kernel && families[activity.name] == WorkFamily::kCommunication;
    const int bit = kernel ? (communicates ? 1 : 0) : 2;
    const Duration start = since(origin, activity.start_ns);
    changes.push_back({.at = start, .bit = bit, .by = 1});
    changes.push_back({.at = start + activity.time, .bit = bit, .by = -1});
    last = std::max(last, start + activity.time);
  }
  result.devices = devices.size();
  result.streams = streams.size();
  result.whole = shares_of("trace", last, Walk(changes).times(Duration(0), last));
  Walk walk(std::move(changes));
  Duration free_from = Duration(-Duration::kLargest / 2);
  for (const ProfilerStep& step : trace.steps) {
    const Duration begin = since(origin, step.start_ns);
    if (begin < free_from) continue;  // a second mark of one step
    free_from = begin + step.time;
    result.steps.push_back(shares_of(step.name, step.time, walk.times(begin, free_from)));
  }
  add_kernels(trace, families, result);
  return result;
}

}  // namespace ringwright::traces
