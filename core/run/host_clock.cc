#include "core/run/host_clock.h"

#include <algorithm>

#include "core/base/random.h"

namespace ringwright {

HostClock::HostClock(const TaskGraph& graph, const std::vector<Program>& programs, const RankClasses& classes,
                     const ComputeModel& compute)
    : began_(classes.count()) {
  std::vector<Duration> of_work;
  for (const Work& work : graph.works) of_work.push_back(issue_time(compute, work));
  const auto issue_time_of = [&](const Task& task) {
    return task.kind == TaskKind::kCompute ? of_work[task.detail] : compute.call_issue_time();
  };
  std::vector<Duration> of_segment;
  for (const Segment& segment : graph.segments) {
    Duration& sum = of_segment.emplace_back();
    for (const Task& task : segment.tasks) sum += issue_time_of(task);
  }
  for (const Program& program : programs) {
    std::vector<Duration>& ends = issue_ends_.emplace_back();
    Duration sum;
    for (const Task& task : program.tasks) {
      sum += task.kind == TaskKind::kSegment ? of_segment[task.detail] : issue_time_of(task);
      ends.push_back(sum);
    }
    counts_ = counts_ || sum > Duration(0);
  }
  for (const RankId rank : classes.representative) program_of_.push_back(graph.program_of[rank.index()].index());
}

void HostClock::waited(ClassId c, std::uint32_t task, TimePoint now) {
  const TimePoint resumed = now - issue_ends_[program_of_[c.index()]][task];
  began_[c.index()] = std::max(began_[c.index()], resumed);
}

std::uint64_t HostClock::digest(TimePoint now) const {
  std::uint64_t hash = 0;
  if (!counts_) return hash;
  for (const TimePoint began : began_) hash = mix(hash, static_cast<std::uint64_t>((now - began).count()));
  return hash;
}

}  // namespace ringwright
