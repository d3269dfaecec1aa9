#include "core/run/job/host_clock.h"

#include <algorithm>
#include <span>

#include "core/base/random.h"

namespace ringwright {

namespace {

MovedBy moved_by(const TaskGraph& graph, const Task& task) {
  const bool message = task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive;
  return message ? graph.messages[task.detail].moved_by : MovedBy::kLibrary;
}

Duration issue_time_of_message(const ComputeModel& compute, MovedBy moved_by) {
  if (moved_by != MovedBy::kSender) return compute.call_issue_time();
  return compute.issue_time(Kernel{.family = KernelFamily::kCopy, .issue = KernelIssue::kLoop});
}

std::vector<bool> receives_of(const TaskGraph& graph, const Program& program) {
  std::vector<bool> receives;
  for (const Task& task : program.tasks) {
    // What its sender has stored, kernels of the receiver wait for.
    receives.push_back(task.kind == TaskKind::kReceive && graph.messages[task.detail].moved_by == MovedBy::kLibrary);
  }
  return receives;
}

// Computing that depends on a message between stages.
std::vector<bool> resumes_of(const TaskGraph& graph, const Program& program) {
  const auto of_pipeline = [&](const Task& task) {
    return task.kind == TaskKind::kReceive && graph.dimensions[task.dimension.index()].joins_stages;
  };
  std::vector<bool> resumes;
  for (const Task& task : program.tasks) {
    const bool computes = task.kind == TaskKind::kCompute || task.kind == TaskKind::kSegment;
    const auto awaited = std::span(program.dependencies).subspan(task.first_dependency, task.dependency_count);
    resumes.push_back(computes &&
                      std::ranges::any_of(awaited, [&](std::uint32_t on) { return of_pipeline(program.tasks[on]); }));
  }
  return resumes;
}

}  // namespace

Duration call_issue_time(const ComputeModel& compute, const TaskGraph& graph, const Task& task) {
  return issue_time_of_message(compute, moved_by(graph, task));
}

HostClock::HostClock(const Inputs& inputs)
    : resume_(inputs.compute.resume_time()) {
  for (const RankId rank : inputs.classes.representative) {
    rows_.emplace_back().program = inputs.graph.program_of[rank.index()].index();
  }
  replace_programs(inputs);
}

void HostClock::replace_programs(const Inputs& inputs) {
  issue_ends_.clear();
  receives_.clear();
  resumes_.clear();
  const TaskGraph& graph = inputs.graph;
  const std::vector<Program>& programs = inputs.programs;
  const ComputeModel& compute = inputs.compute;
  std::vector<Duration> of_work;
  for (const Work& work : graph.works) of_work.push_back(issue_time(compute, work));
  const Duration of_collective = compute.call_issue_time();
  std::vector<Duration> of_message;
  bool have_agents = false;
  for (const MessageSpec& message : graph.messages) {
    of_message.push_back(issue_time_of_message(compute, message.moved_by));
    have_agents = have_agents || message.moved_by == MovedBy::kAgent;
  }
  std::vector<Duration> of_segment;
  const auto issue_time_of = [&](const Task& task) {
    switch (task.kind) {
      case TaskKind::kCompute: return of_work[task.detail];
      case TaskKind::kCollective: break;
      case TaskKind::kSend:
      case TaskKind::kReceive: return of_message[task.detail];
      case TaskKind::kSegment: return of_segment[task.detail];
    }
    return of_collective;
  };
  for (const Segment& segment : graph.segments) {
    Duration& sum = of_segment.emplace_back();
    for (const Task& task : segment.tasks) sum += issue_time_of(task);
  }
  for (const Program& program : programs) {
    std::vector<Duration>& ends = issue_ends_.emplace_back();
    ends.reserve(program.tasks.size());
    Duration sum;
    for (const Task& task : program.tasks) {
      // An agent next to the rank issues its messages and waits for them.
      if (have_agents && moved_by(graph, task) == MovedBy::kAgent) {
        ends.emplace_back();
        continue;
      }
      sum += issue_time_of(task);
      ends.push_back(sum);
    }
    counts_ = counts_ || sum > Duration(0);
  }
  const auto awaits = [&](const Program& program) {
    return graph.jobs.empty() ? inputs.awaits_receives
                              : program.job != kNoJob && graph.jobs[program.job].host_awaits_receives;
  };
  if (std::ranges::any_of(programs, awaits)) {
    for (const Program& program : programs) {
      const std::size_t tasks = program.tasks.size();
      receives_.push_back(awaits(program) ? receives_of(graph, program) : std::vector<bool>(tasks));
      resumes_.push_back(awaits(program) ? resumes_of(graph, program) : std::vector<bool>(tasks));
    }
  }
}

bool HostClock::ended(ClassId c, std::uint32_t task, TimePoint now) {
  if (receives_.empty()) return false;
  Row& row = rows_[c.index()];
  if (!receives_[row.program][task]) return false;
  const TimePoint behind = now - issue_ends_[row.program][task];
  if (behind <= row.began) return false;
  row.began = behind;
  return true;
}

Duration HostClock::take_pause(ClassId c, std::uint32_t task, TimePoint now) {
  if (!pauses() || !resumes_[rows_[c.index()].program][task]) return Duration(0);
  TimePoint& began = rows_[c.index()].began;
  began = std::max(began, began + (now + resume_ - issuing(c, task)));
  return resume_;
}

std::uint64_t HostClock::digest(TimePoint now) const {
  std::uint64_t hash = 0;
  if (!counts_) return hash;
  for (const Row& row : rows_) hash = mix(hash, static_cast<std::uint64_t>((now - row.began).count()));
  return hash;
}

}  // namespace ringwright
