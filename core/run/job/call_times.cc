#include "core/run/job/call_times.h"

#include <algorithm>

namespace ringwright {

void CallTimes::begin(ClassId rank_class, std::uint32_t task, const Call& call, TimePoint now) {
  running_[rank_class.index()].push_back({.task = task, .call = call, .since = now});
}

void CallTimes::end(ClassId rank_class, std::uint32_t task, TimePoint now) {
  std::vector<Running>& running = running_[rank_class.index()];
  const auto found = std::ranges::find(running, task, &Running::task);
  if (found == running.end()) return;
  const Duration took = now - found->since;
  const Call call = found->call;
  running.erase(found);
  const auto [entry, is_new] = times_.try_emplace({call.dimension, call.spec});
  CallTime& time = entry->second;
  if (is_new) time = {.dimension = call.dimension, .spec = call.spec, .shortest = took};
  ++time.count;
  time.sum += took.count();
  time.shortest = std::min(time.shortest, took);
}

void CallTimes::add(const std::vector<CallTime>& calls, std::uint64_t times) {
  for (const CallTime& call : calls) {
    const CallTime none{.dimension = call.dimension, .spec = call.spec, .shortest = call.shortest};
    CallTime& time = times_.try_emplace({call.dimension, call.spec}, none).first->second;
    time.count += call.count * times;
    time.sum += call.sum * times;
    time.shortest = std::min(time.shortest, call.shortest);
  }
}

std::vector<CallTime> CallTimes::take() const {
  std::vector<CallTime> result;
  for (const auto& [key, time] : times_) result.push_back(time);
  return result;
}

}  // namespace ringwright
