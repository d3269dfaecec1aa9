// How far a run is: the iterations that remain to be simulated, and which tasks, iterations and classes have ended.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/record/run_record.h"

namespace ringwright {

class RunProgress {
 public:
  RunProgress(std::size_t classes, int iterations);

  // Of one iteration of a class's program; before the run.
  void expect_tasks(std::size_t tasks) { tasks_total_ += tasks * static_cast<std::uint64_t>(requested()); }
  // To simulate; fewer than requested once they are known to repeat.
  [[nodiscard]] int iterations() const { return requested() - skipped_; }
  [[nodiscard]] int skipped() const { return skipped_; }
  // So many of them need not be simulated. Once.
  void skip(int iterations);

  void end_task() { ++tasks_done_; }
  void end_iteration(int iteration, TimePoint at);
  void end_class(ClassId c, TimePoint at) {
    finished_at_[c.index()] = at;
    ++finished_classes_;
  }
  [[nodiscard]] bool all_ended() const { return finished_classes_ == finished_at_.size(); }
  // In [0, 1], by tasks.
  [[nodiscard]] double done_share() const {
    return tasks_total_ == 0 ? 1.0 : static_cast<double>(tasks_done_) / static_cast<double>(tasks_total_);
  }
  // Hands over the ends of classes and iterations.
  void move_into(RunRecord& record);

 private:
  [[nodiscard]] int requested() const { return static_cast<int>(iteration_end_.size()); }

  int skipped_ = 0;
  std::uint64_t tasks_done_ = 0;
  std::uint64_t tasks_total_ = 0;
  std::size_t finished_classes_ = 0;
  std::vector<TimePoint> finished_at_;    // by class
  std::vector<TimePoint> iteration_end_;  // by iteration: of the last class so far
};

}  // namespace ringwright
