#include "planning/operation/recovery_policy.h"

#include <algorithm>
#include <set>

namespace ringwright::planning {

std::int64_t JobView::whole_replicas() const {
  std::set<std::int64_t> broken;
  for (const std::int64_t slot : empty) {
    const std::int64_t each = shape().hosts_per_replica();
    // Replicas smaller than a host are lost together with it.
    if (shape().replicas <= shape().hosts()) {
      broken.insert(slot / each);
      continue;
    }
    for (std::int64_t r = 0; r < shape().replicas; ++r) {
      if (r * shape().hosts() / shape().replicas == slot) broken.insert(r);
    }
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
