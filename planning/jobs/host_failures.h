// Failures of the hosts of a cluster over days: when each fails, and is repaired.
//
// A host fails after an exponentially distributed time since it was last repaired, and each has a random stream of its
// own: under every policy the same hosts fail at the same times. Jobs on it stop, and repeat what they did since their
// last checkpoint; jobs save at equal intervals, and when a policy stops them.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/base/random.h"
#include "core/config/config_map.h"
#include "planning/jobs/cluster_job.h"

namespace ringwright::planning {

struct FailureSettings {
  double host_mtbf = 0.0;  // seconds between failures of one host while it is up; 0: none fails
  double repair = 0.0;     // seconds
  double checkpoint = 0.0;  // seconds between checkpoints of a running job
  std::uint64_t seed = 1;
  [[nodiscard]] bool any() const { return host_mtbf > 0.0; }
};
// The block `failures` of the file. E485 where some job would hardly ever end: with so many failures it repeats most of
// what it does, or too few hosts are up at once. `stands`: seconds without progress after a restart.
[[nodiscard]] FailureSettings read_failures(ConfigMap& root, const ClusterShape& shape,
                                            const std::vector<ClusterJob>& jobs, double stands);

class HostFailures {
 public:
  // The first begin at `from`.
  HostFailures(const FailureSettings& settings, int hosts, double from);

  struct Event {
    double at = 0.0;
    int host = 0;
    bool fails = true;  // or is up again
    bool operator>(const Event& other) const { return at > other.at || (!(other.at > at) && host > other.host); }
  };
  // Of the next event; infinity where no host fails.
  [[nodiscard]] double next() const;
  // Takes it.
  [[nodiscard]] Event take();

 private:
  [[nodiscard]] double time_up(int host);

  FailureSettings settings_;
  std::vector<RandomStream> streams_;  // by host
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace ringwright::planning
