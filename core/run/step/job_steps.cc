#include "core/run/step/job_steps.h"

#include <algorithm>
#include <utility>

namespace ringwright {

JobSteps::JobSteps(const Inputs& inputs)
    : warmup_(std::max(1, inputs.warmup)),
      steps_(inputs.graph.iterations),
      counting_(!inputs.windows.empty()),
      jobs_(inputs.graph.jobs.size()),
      of_class_(inputs.classes.count()) {
  if (!on()) return;
  for (std::size_t c = 0; c < of_class_.size(); ++c) {
    const RankId rank = inputs.classes.representative[c];
    const Program& program = inputs.graph.programs[inputs.graph.program_of[rank.index()].index()];
    if (!program.tasks.empty()) of_class_[c].job = program.job;
    if (of_class_[c].job != kNoJob) ++jobs_[of_class_[c].job].classes;
  }
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    if (counting_) jobs_[j].window = inputs.windows[j];
    jobs_[j].done = jobs_[j].classes == 0;
    if (!jobs_[j].done) continue;
    ++done_;
    ++warm_;
  }
}

bool JobSteps::begin(ClassId c) {
  ClassState& state = of_class_[c.index()];
  const int step = state.begun++;
  return counting_ && step == jobs_[state.job].window.first;
}

JobSteps::Verdict JobSteps::end(ClassId c, TimePoint now, const ActivityTimes& spent) {
  ClassState& state = of_class_[c.index()];
  JobState& job = jobs_[state.job];
  const int step = state.ended++;
  const auto at = static_cast<std::size_t>(step);
  if (at == job.step_end.size()) {
    job.step_end.emplace_back();
    job.classes_at_end.push_back(0);
  }
  job.step_end[at] = std::max(job.step_end[at], now);
  if (counts(job, step)) state.spent.push_back(spent);
  if (state.ended > kMostJobSteps) return Verdict::kTooMany;
  if (++job.classes_at_end[at] < job.classes) return Verdict::kGoOn;
  job_ended_step(state.job);
  if (counting_) {
    check_done(job);
    return is_done() ? Verdict::kEnough : Verdict::kGoOn;
  }
  if (job.ended == warmup_ && ++warm_ == jobs_.size()) return Verdict::kWarm;
  return Verdict::kGoOn;
}

// Of every class only the time at the end of the last step that the whole job has ended is needed, and later ones.
void JobSteps::job_ended_step(std::uint32_t number) {
  JobState& job = jobs_[number];
  const int step = job.ended++;
  if (!counts(job, step) || step == job.window.first) return;
  for (ClassState& state : of_class_) {
    if (state.job == number) state.spent.erase(state.spent.begin());
  }
}

void JobSteps::check_done(JobState& job) {
  if (job.done || job.ended < job.window.end()) return;
  job.done = true;
  ++done_;
}

void JobSteps::begin_counting() {
  counting_ = true;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    int begun = 0;
    for (const ClassState& state : of_class_) {
      if (state.job == j) begun = std::max(begun, state.begun);
    }
    jobs_[j].window = {.first = begun, .count = steps_};
  }
}

void JobSteps::move_into(RunRecord& record) {
  for (JobState& job : jobs_) {
    job.step_end.resize(static_cast<std::size_t>(job.ended));
    record.jobs.push_back({.first = job.window.first, .step_end = std::move(job.step_end)});
  }
  for (std::size_t c = 0; c < of_class_.size(); ++c) {
    std::vector<ActivityTimes>& spent = of_class_[c].spent;
    record.time_in[c] = spent.empty() ? ActivityTimes() : std::move(spent.front());
  }
}

}  // namespace ringwright
