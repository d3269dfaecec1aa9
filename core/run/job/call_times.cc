#include "core/run/job/call_times.h"

#include <algorithm>
#include <iterator>

namespace ringwright {

void CallTimes::begin(ClassId rank_class, std::uint32_t task, const Call& call, TimePoint now) {
  running_[rank_class.index()].push_back({.task = task, .call = call, .since = now});
}

void CallTimes::end(ClassId rank_class, std::uint32_t task, TimePoint now) {
  auto& running = running_[rank_class.index()];
  const auto found = std::ranges::find(running, task, &Running::task);
  if (found == running.end()) return;
  const Duration took = now - found->since;
  CallTime& time = time_of(found->call);
  running.erase(found);
  time.shortest = time.count == 0 ? took : std::min(time.shortest, took);
  ++time.count;
  time.sum += took.count();
}

CallTime& CallTimes::time_of(const Call& call) {
  const auto value_of = [](const std::vector<CallTime>& times) { return times.front().dimension.value; };
  auto of_dimension = std::ranges::lower_bound(times_, call.dimension.value, {}, value_of);
  if (of_dimension == times_.end() || value_of(*of_dimension) != call.dimension.value) {
    of_dimension = times_.insert(of_dimension, std::vector<CallTime>{{.dimension = call.dimension}});
  }
  std::vector<CallTime>& times = *of_dimension;
  while (call.spec >= times.size()) {
    times.push_back({.dimension = call.dimension, .spec = static_cast<std::uint32_t>(times.size())});
  }
  return times[call.spec];
}

void CallTimes::add(const std::vector<CallTime>& calls, std::uint64_t times) {
  for (const CallTime& call : calls) {
    CallTime& time = time_of({.dimension = call.dimension, .spec = call.spec});
    time.shortest = time.count == 0 ? call.shortest : std::min(time.shortest, call.shortest);
    time.count += call.count * times;
    time.sum += call.sum * times;
  }
}

std::vector<CallTime> CallTimes::take() const {
  std::vector<CallTime> result;
  for (const std::vector<CallTime>& of_dimension : times_) {
    std::ranges::copy_if(of_dimension, std::back_inserter(result), [](const CallTime& time) { return time.count > 0; });
  }
  return result;
}

}  // namespace ringwright
