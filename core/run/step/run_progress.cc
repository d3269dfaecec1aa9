#include "core/run/step/run_progress.h"

#include <algorithm>
#include <utility>

namespace ringwright {

RunProgress::RunProgress(std::size_t classes, int iterations)
    : finished_at_(classes), iteration_end_(static_cast<std::size_t>(iterations)) {}

void RunProgress::skip(int iterations) {
  tasks_total_ -= tasks_total_ / static_cast<std::uint64_t>(requested()) * static_cast<std::uint64_t>(iterations);
  skipped_ += iterations;
}

void RunProgress::end_iteration(int iteration, TimePoint at) {
  TimePoint& end = iteration_end_[static_cast<std::size_t>(iteration)];
  end = std::max(end, at);
}

void RunProgress::move_into(RunRecord& record) {
  record.finished_at = std::move(finished_at_);
  record.iteration_end = std::move(iteration_end_);
}

}  // namespace ringwright
