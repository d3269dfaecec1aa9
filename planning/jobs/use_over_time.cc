#include "planning/jobs/use_over_time.h"

#include <algorithm>
#include <cmath>

namespace ringwright::planning {
namespace {

void join_neighbours(std::vector<double>& sums) {
  const std::size_t joined = (sums.size() + 1) / 2;
  for (std::size_t i = 0; i < joined; ++i) {
    sums[i] = sums[2 * i] + (2 * i + 1 < sums.size() ? sums[2 * i + 1] : 0.0);
  }
  sums.resize(joined);
}

}  // namespace

void UseOverTime::add(const UseSpan& span) {
  if (span.to <= span.from) return;
  while (span.to > interval_ * static_cast<double>(kMostUseIntervals)) join_pairs();
  const auto needed = static_cast<std::size_t>(std::ceil(span.to / interval_));
  if (gpu_seconds_.size() < needed) {
    gpu_seconds_.resize(needed, 0.0);
    waiting_seconds_.resize(needed, 0.0);
  }
  for (auto at = static_cast<std::size_t>(span.from / interval_); at < needed; ++at) {
    const double begin = std::max(span.from, static_cast<double>(at) * interval_);
    const double time = std::min(span.to, static_cast<double>(at + 1) * interval_) - begin;
    if (time <= 0.0) continue;
    gpu_seconds_[at] += time * span.gpus;
    waiting_seconds_[at] += time * span.waiting;
  }
  end_ = span.to;
}

std::vector<double> UseOverTime::means(const std::vector<double>& sums) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double begin = static_cast<double>(i) * interval_;
    values.push_back(sums[i] / (std::min(end_, begin + interval_) - begin));
  }
  return values;
}

void UseOverTime::join_pairs() {
  join_neighbours(gpu_seconds_);
  join_neighbours(waiting_seconds_);
  interval_ *= 2.0;
}

}  // namespace ringwright::planning
