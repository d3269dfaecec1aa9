#include "core/run/job/played_job.h"

#include <algorithm>

namespace ringwright {

void SequenceSet::add(std::uint64_t number) {
  if (number != through_) {
    beyond_.push_back(number);
    return;
  }
  ++through_;
  while (!beyond_.empty()) {
    const auto next = std::ranges::find(beyond_, through_);
    if (next == beyond_.end()) return;
    beyond_.erase(next);
    ++through_;
  }
}

bool SequenceSet::contains(std::uint64_t number) const {
  return number < through_ || std::ranges::find(beyond_, number) != beyond_.end();
}

}  // namespace ringwright
