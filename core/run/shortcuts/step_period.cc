#include "core/run/shortcuts/step_period.h"

#include <utility>

#include "core/base/check.h"

namespace ringwright {

int StepPeriod::observe(StepSnapshot snapshot, int iterations) {
  CHECK(skipped_ == 0, "the period is known");
  before_ = std::move(now_);
  now_ = std::move(snapshot);
  if (!before_ || before_->iteration + 1 != now_->iteration || before_->digest != now_->digest) return 0;
  // Class 0 simulates one more, the last.
  skipped_ = std::max(iterations - now_->iteration - 2, 0);
  return skipped_;
}

void StepPeriod::extend(RunRecord& record, std::vector<LinkUsage>& usage) const {
  if (skipped_ == 0) return;
  const Duration period = now_->at - before_->at;
  for (TimePoint& end : record.finished_at) end = end + period * skipped_;
  // The ends of the left-out steps are one period apart, after the last step that repeats.
  const auto repeating = static_cast<std::size_t>(now_->iteration);
  const TimePoint last = record.iteration_end[repeating + 1] + period * skipped_;
  record.iteration_end.resize(repeating + 1);
  for (int step = 1; step <= skipped_; ++step) {
    record.iteration_end.push_back(record.iteration_end[repeating] + period * step);
  }
  record.iteration_end.push_back(last);
  for (std::size_t c = 0; c < record.time_in.size(); ++c) {
    record.time_in[c].add_between(before_->time_in[c], now_->time_in[c], skipped_);
    for (std::size_t d = 0; d < record.sent[c].size(); ++d) {
      record.sent[c][d] += (now_->sent[c][d] - before_->sent[c][d]) * skipped_;
    }
  }
  record.messages += (now_->messages - before_->messages) * static_cast<std::uint64_t>(skipped_);
  for (std::size_t link = 0; link < usage.size(); ++link) {
    usage[link].bytes += (now_->usage[link].bytes - before_->usage[link].bytes) * skipped_;
    usage[link].busy += (now_->usage[link].busy - before_->usage[link].busy) * skipped_;
  }
}

}  // namespace ringwright
