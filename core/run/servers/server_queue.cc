#include "core/run/servers/server_queue.h"

#include <algorithm>

#include "core/run/servers/server_run.h"

namespace ringwright {

void ServerQueue::take(const Request& request, Duration time) {
  waiting_.push_back({.request = request, .time = time});
  begin_next();
  longest_ = std::max<std::uint64_t>(longest_, waiting_.size());
}

void ServerQueue::begin_next() {
  if (waiting_.empty() || at_work_ == threads_) return;
  count_up();
  ++at_work_;
  const Waiting next = waiting_.front();
  waiting_.pop_front();
  engine_.after(next.time, [this, request = next.request] {
    count_up();
    --at_work_;
    listener_.on_served(number_, request);
    begin_next();
  });
}

void ServerQueue::count_up() {
  busy_ += (engine_.now() - since_) * at_work_;
  since_ = engine_.now();
}

void ServerQueue::begin_counting() {
  busy_ = Duration(0);
  since_ = engine_.now();
  longest_ = waiting_.size();
}

ServerFigures ServerQueue::figures(TimePoint counted_from) const {
  const Duration counted = engine_.now() - counted_from;
  const Duration busy = busy_ + (engine_.now() - since_) * at_work_;
  const double all = to_seconds(counted) * static_cast<double>(threads_);
  return {.busy = all > 0.0 ? to_seconds(busy) / all : 0.0, .longest_queue = longest_};
}

}  // namespace ringwright
