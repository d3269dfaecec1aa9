#include "planning/jobs/host_failures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "planning/operation/spread.h"

namespace ringwright::planning {
namespace {

// How often a job of some hosts fails while it computes what it may lose: beyond, it repeats that e^5 / 5 = 30 times.
constexpr double kMostFailures = 5.0;
// Hosts beyond those that a job leaves, of those that are down in the mean: all up at once e^-3 = 5 % of the time.
constexpr double kMostMissing = 3.0;

void check_jobs(ConfigMap& map, const FailureSettings& settings, const ClusterShape& shape,
                const std::vector<ClusterJob>& jobs, double stands) {
  const double down = shape.hosts * settings.repair / (settings.host_mtbf + settings.repair);
  for (const ClusterJob& job : jobs) {
    const int hosts = (job.gpus + shape.gpus_per_host - 1) / shape.gpus_per_host;
    // Where places are relaxed, each of its GPUs may be on another host.
    const int most = std::min(std::max(job.gpus, job.most), shape.hosts);
    const double failures = most * (stands + std::min(settings.checkpoint, job.service)) / settings.host_mtbf;
    if (failures > kMostFailures) {
      return map.error("host_mtbf", "E485",
                       fmt::format("a job on {} hosts fails {:.3g} times before it saves", most, failures),
                       "let it save more often (failures.checkpoint) or restart faster, or hosts fail less often");
    }
    if (down - (shape.hosts - hosts) > kMostMissing) {
      return map.error(
          "host_mtbf", "E485",
          fmt::format("a job needs {} of {} hosts, of which {:.3g} are down on average", hosts, shape.hosts, down),
          "shorten failures.repair, or leave more hosts free");
    }
  }
}

}  // namespace

FailureSettings read_failures(ConfigMap& root, const ClusterShape& shape, const std::vector<ClusterJob>& jobs,
                              double stands) {
  FailureSettings settings;
  if (!root.has("failures") && !root.documenting()) return settings;
  ConfigMap map = root.map("failures", "of hosts: jobs on them stop, and repeat what they have not saved");
  settings.host_mtbf = read_seconds(map, {.name = "host_mtbf", .doc = "mean time between failures of one host"});
  settings.repair =
      read_seconds(map, {.name = "repair", .doc = "until a host that failed is up again", .fallback = 3'600.0});
  settings.checkpoint =
      read_seconds(map, {.name = "checkpoint", .doc = "between checkpoints of a running job", .fallback = 1'800.0});
  settings.seed =
      static_cast<std::uint64_t>(map.integer({.name = "seed", .doc = "of the failures", .fallback = 1, .min = 0}));
  if (map.documenting()) return settings;
  for (const auto& [key, seconds] : {std::pair{"host_mtbf", settings.host_mtbf}, {"checkpoint", settings.checkpoint}}) {
    if (seconds < 1.0) map.error(key, "E485", fmt::format("'{}' is below a second", map.path_of(key)));
  }
  if (std::min(settings.host_mtbf, settings.checkpoint) >= 1.0) check_jobs(map, settings, shape, jobs, stands);
  return settings;
}

HostFailures::HostFailures(const FailureSettings& settings, int hosts, double from) : settings_(settings) {
  if (!settings.any()) return;
  for (int host = 0; host < hosts; ++host) {
    streams_.emplace_back(settings.seed, fmt::format("failures of host {}", host));
    events_.push({.at = from + time_up(host), .host = host});
  }
}

double HostFailures::time_up(int host) {
  return -settings_.host_mtbf * std::log(1.0 - streams_[static_cast<std::size_t>(host)].next_unit());
}

double HostFailures::next() const {
  return events_.empty() ? std::numeric_limits<double>::infinity() : events_.top().at;
}

HostFailures::Event HostFailures::take() {
  const Event event = events_.top();
  events_.pop();
  events_.push({.at = event.at + (event.fails ? settings_.repair : time_up(event.host)),
                .host = event.host,
                .fails = !event.fails});
  return event;
}

}  // namespace ringwright::planning
