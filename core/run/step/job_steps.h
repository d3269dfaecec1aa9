// The training steps of several jobs in one run. Jobs differ in the length of their steps, so each repeats its own step
// until every job has ended as many as count: none of those that count lacks the traffic of another job.
//
// The steps that count begin after every job has ended its warm-up, and end before the run does. Given windows count
// instead: the same steps of a job in another run, to compare.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/record/run_record.h"

namespace ringwright {

struct StepWindow {
  int first = 0;
  int count = 0;
  [[nodiscard]] int end() const { return first + count; }
  friend bool operator==(const StepWindow&, const StepWindow&) = default;
};

// More steps of one job while another ends its few: the run stops (RunOutcome::kStopped).
inline constexpr int kMostJobSteps = 10'000;

class JobSteps {
 public:
  struct Inputs {
    const TaskGraph& graph;  // without jobs: nothing here has an effect
    const RankClasses& classes;
    int warmup = 1;
    std::vector<StepWindow> windows;  // by job; empty: as above
  };
  explicit JobSteps(const Inputs& inputs);

  [[nodiscard]] bool on() const { return !jobs_.empty(); }
  [[nodiscard]] bool is_idle(ClassId c) const { return of_class_[c.index()].job == kNoJob; }

  // The class begins its next step. True: the first that counts.
  [[nodiscard]] bool begin(ClassId c);
  // kWarm: to be followed by begin_counting() at the end of the instant. kEnough: the run may stop after the instant.
  // kTooMany: it cannot go on.
  enum class Verdict : std::uint8_t { kGoOn, kWarm, kEnough, kTooMany };
  // The class has ended its step; `spent`: its time since the first step that counts.
  [[nodiscard]] Verdict end(ClassId c, TimePoint now, const ActivityTimes& spent);
  // All steps that have not begun count.
  void begin_counting();
  [[nodiscard]] bool is_done() const { return done_ == jobs_.size(); }

  // Of every class the time of the steps that count, and of every job when its steps ended.
  void move_into(RunRecord& record);

 private:
  struct JobState {
    std::size_t classes = 0;
    StepWindow window;
    int ended = 0;  // steps, by all of its classes
    bool done = false;
    std::vector<TimePoint> step_end;          // by step: of the last class so far
    std::vector<std::size_t> classes_at_end;  // by step: that have ended it
  };
  struct ClassState {
    std::uint32_t job = kNoJob;
    int begun = 0;  // steps
    int ended = 0;
    std::vector<ActivityTimes> spent;  // at the end of each step that counts, from the last that the job has ended on
  };
  [[nodiscard]] bool counts(const JobState& job, int step) const { return counting_ && step >= job.window.first; }
  void job_ended_step(std::uint32_t number);
  void check_done(JobState& job);

  int warmup_;
  int steps_;
  bool counting_;
  std::size_t warm_ = 0;  // jobs
  std::size_t done_ = 0;
  std::vector<JobState> jobs_;
  std::vector<ClassState> of_class_;
};

}  // namespace ringwright
