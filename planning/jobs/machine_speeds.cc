#include "planning/jobs/machine_speeds.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/shared_scenario.h"
#include "configs/simulation/job_placement.h"
#include "configs/simulation/shared_run.h"
#include "configs/simulation/step_plan.h"
#include "planning/study/each_item.h"

namespace ringwright::planning {
namespace {

using configs::JobEntry;
using configs::PlacementPolicy;

// One simulation.
struct RatePoint {
  std::size_t type = 0;
  int gpus = 1;
  Locality locality = Locality::kHost;
  double rate = 0.0;   // steps per second; 0: it has no valid layout, or no place
  std::string reason;  // why
};

// The entry with these GPUs at this locality; empty where there is none.
std::optional<JobEntry> entry_at(const JobEntry& type, const configs::Cluster& cluster, const RatePoint& point) {
  JobEntry entry = type;
  entry.gpus = point.gpus;
  entry.hosts.clear();
  entry.start = Duration();
  const int per_host = cluster.host.gpus;
  const bool within = point.gpus <= per_host;
  entry.gpus_per_host = std::min(point.gpus, per_host);
  switch (point.locality) {
    case Locality::kHost:
      entry.placement = PlacementPolicy::kPacked;
      return within ? std::optional(entry) : std::nullopt;
    case Locality::kUnit: entry.placement = PlacementPolicy::kRailAligned; break;
    case Locality::kFabric: entry.placement = PlacementPolicy::kSpread; break;
  }
  // Two hosts at least.
  if (within) {
    if (point.gpus < 2) return std::nullopt;
    entry.gpus_per_host = point.gpus / 2;
  }
  return entry;
}

// Powers of two, and the largest size that a job may have.
std::vector<int> sizes_up_to(int most) {
  std::vector<int> sizes;
  for (int size = 1; size < most; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

Result<double> simulated_rate(const configs::Scenario& machine, const std::string& path, const JobEntry& entry,
                              Locality locality) {
  const auto job = configs::load_job_of(path, entry);
  if (!job) return tl::unexpected(job.error());
  const workload::StepPlan plan = configs::plan_step(*job);
  const auto fabric = machine.cluster.topology->build().fabric;
  auto hosts = configs::place_jobs(machine, std::span(&entry, 1), fabric);
  if (!hosts) return tl::unexpected(std::move(hosts.error()));
  if (locality == Locality::kFabric && hosts->front().units < 2) {
    return tl::unexpected(failure("E486", "its hosts are one unit", {.file = path}));
  }
  const std::vector<PlacedJob> jobs{
      {.graph = plan.graph,
       .gpus = std::move(hosts->front().gpus),
       .spec = {.name = entry.name, .host_awaits_receives = !job->job.parallel.overlap_p2p}}};
  const auto run = configs::run_jobs(machine, jobs);
  if (!run) return tl::unexpected(run.error());
  return 1.0 / to_seconds(run->jobs.front().step.mean);
}

constexpr std::array<std::string_view, kLocalities> kLocalityTexts = {"in a host", "over the hosts of a unit",
                                                                      "over units"};

bool has_rate_at(const SimulatedRates& rates, Locality locality) {
  return std::ranges::any_of(rates, [locality](const auto& size) {
    return std::any_of(size.second.begin() + static_cast<std::ptrdiff_t>(locality), size.second.end(),
                       [](double rate) { return rate > 0.0; });
  });
}

// Of the largest size at this locality or a wider one, why it has no rate.
std::string reason_of(const std::vector<RatePoint>& points, std::size_t type, Locality locality) {
  std::string reason = "it has too few GPUs";
  for (const RatePoint& point : points) {
    if (point.type == type && point.locality >= locality && !point.reason.empty()) reason = point.reason;
  }
  return reason;
}

Diagnostics check_size(const configs::Scenario& shared, const std::string& machine, const ClusterShape& shape,
                       int most) {
  if (shared.cluster.host.gpus != shape.gpus_per_host) {
    const auto message = fmt::format("'cluster.gpus_per_host' is {}, and hosts of 'speed.machine' have {} GPUs",
                                     shape.gpus_per_host, shared.cluster.host.gpus);
    return failure("E486", message, {.file = machine});
  }
  if (most <= shared.cluster.gpus()) return {};
  const auto message =
      fmt::format("jobs run on up to {} GPUs, and 'speed.machine' has {}", most, shared.cluster.gpus());
  return failure("E486", message, {.file = machine},
                 "give it as many hosts, or make jobs smaller (jobs.gpus, jobs.most)");
}

// What the cluster calls one unit is one in the machine.
Diagnostics check_units(const configs::Scenario& shared, const std::string& machine, const ClusterShape& shape,
                        const NeededRates& needed) {
  const int hosts = std::max((needed.most + shape.gpus_per_host - 1) / shape.gpus_per_host,
                             needed.widest == Locality::kHost ? 1 : 2);
  const auto of_unit = static_cast<std::size_t>(std::min(hosts, shape.hosts_per_unit));
  const auto units = configs::units_of_hosts(shared.cluster.topology->build().fabric, shared.cluster);
  std::map<std::uint32_t, std::size_t> sizes;
  for (const std::uint32_t unit : units) ++sizes[unit];
  std::size_t largest = 0;
  for (const auto& [unit, size] : sizes) largest = std::max(largest, size);
  if (of_unit < 2 || of_unit <= largest || of_unit > units.size()) return {};
  const auto message = fmt::format("'cluster.hosts_per_unit' is {}, and a unit of 'speed.machine' has {} host{}",
                                   shape.hosts_per_unit, largest, largest == 1 ? "" : "s");
  return failure("E486", message, {.file = machine},
                 fmt::format("set cluster.hosts_per_unit to {}, or give the machine units of {}", largest, of_unit));
}

}  // namespace

Result<std::vector<std::string>> types_of_machine(const std::string& machine) {
  const auto shared = configs::load_shared_machine(machine);
  if (!shared) return tl::unexpected(shared.error());
  std::vector<std::string> names;
  for (const JobEntry& job : shared->jobs) names.push_back(job.name);
  return names;
}

Result<std::vector<SimulatedRates>> simulated_rates(const std::string& machine, const ClusterShape& shape,
                                                    const NeededRates& needed, const Workers& workers) {
  const auto shared = configs::load_shared_machine(machine);
  if (!shared) return tl::unexpected(shared.error());
  if (Diagnostics wrong = check_size(*shared, machine, shape, needed.most); wrong.has_errors()) {
    return tl::unexpected(std::move(wrong));
  }
  if (!needed.elsewhere) return std::vector<SimulatedRates>(shared->jobs.size());
  if (Diagnostics wrong = check_units(*shared, machine, shape, needed); wrong.has_errors()) {
    return tl::unexpected(std::move(wrong));
  }
  std::vector<RatePoint> points;
  for (std::size_t type = 0; type < shared->jobs.size(); ++type) {
    for (const int size : sizes_up_to(needed.most)) {
      for (const Locality locality : {Locality::kHost, Locality::kUnit, Locality::kFabric}) {
        if (entry_at(shared->jobs[type], shared->cluster, {.gpus = size, .locality = locality})) {
          points.push_back({.type = type, .gpus = size, .locality = locality});
        }
      }
    }
  }
  each_item(points.size(), workers, [&](std::size_t item) {
    RatePoint& point = points[item];
    const JobEntry entry = *entry_at(shared->jobs[point.type], shared->cluster, point);
    const auto rate = simulated_rate(*shared, machine, entry, point.locality);
    if (rate) {
      point.rate = *rate;
    } else {
      point.reason = rate.error().all().front().message;
    }
  });
  std::vector<SimulatedRates> rates(shared->jobs.size());
  for (const RatePoint& point : points) {
    if (point.rate <= 0.0) continue;
    rates[point.type].try_emplace(point.gpus).first->second[static_cast<std::size_t>(point.locality)] = point.rate;
  }
  for (std::size_t type = 0; type < rates.size(); ++type) {
    if (has_rate_at(rates[type], needed.widest)) continue;
    return tl::unexpected(failure(
        "E486",
        fmt::format("job '{}' of the machine can be simulated at no size {}: {}", shared->jobs[type].name,
                    kLocalityTexts[static_cast<std::size_t>(needed.widest)], reason_of(points, type, needed.widest)),
        {.file = machine}));
  }
  return rates;
}

}  // namespace ringwright::planning
