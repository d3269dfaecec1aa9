#include "planning/operation/recovery_policy.h"

#include <algorithm>
#include <set>

namespace ringwright::planning {

std::int64_t JobView::whole_replicas() const {
  std::set<std::int64_t> broken;
  for (const std::int64_t slot : empty) {
    // All with a GPU on the host.
    const std::int64_t first = slot * shape().gpus_per_host;
    const std::int64_t end = std::min(first + shape().gpus_per_host, shape().gpus);
    const std::int64_t each = shape().gpus_per_replica();
    for (std::int64_t r = first / each; r * each < end; ++r) broken.insert(r);
  }
  return std::max<std::int64_t>(0, shape().replicas - std::ssize(broken));
}

JobTime init_communicators(const Operation& operation) {
  return job_seconds(operation.restart.init_seconds(operation.job.gpus));
}

JobTime whole_restart(const Operation& operation, RandomStream& stream) {
  const Restart& restart = operation.restart;
  JobTime time = restart.schedule.draw(stream);
  time += restart.container.draw(stream);
  time += init_communicators(operation);
  time += restart.warmup.draw(stream);
  return time;
}

std::string needs_replicas(const Operation& job) {
  return job.job.replicas > 1 ? "" : "the job has one replica, and its state is nowhere else";
}

}  // namespace ringwright::planning
