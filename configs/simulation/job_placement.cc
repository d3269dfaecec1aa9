#include "configs/simulation/job_placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/random.h"

namespace ringwright::configs {
namespace {

// The free GPUs of all hosts.
class FreeGpus {
 public:
  FreeGpus(std::int64_t hosts, int gpus) : free_(static_cast<std::size_t>(hosts)) {
    for (std::vector<int>& of_host : free_) {
      of_host.resize(static_cast<std::size_t>(gpus));
      std::iota(of_host.begin(), of_host.end(), 0);
    }
  }
  [[nodiscard]] std::size_t count(std::size_t host) const { return free_[host].size(); }
  // Ascending; those with at least so many free GPUs.
  [[nodiscard]] std::vector<std::size_t> hosts_with(std::size_t gpus) const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < free_.size(); ++host) {
      if (count(host) >= gpus) hosts.push_back(host);
    }
    return hosts;
  }
  // The first positions that are free.
  std::vector<int> take(std::size_t host, std::size_t gpus) {
    std::vector<int>& of_host = free_[host];
    const auto end = of_host.begin() + static_cast<std::ptrdiff_t>(gpus);
    std::vector<int> taken(of_host.begin(), end);
    of_host.erase(of_host.begin(), end);
    return taken;
  }

 private:
  std::vector<std::vector<int>> free_;  // by host, ascending positions
};

// Hosts in use first, so that jobs smaller than a host leave whole hosts to others.
void fullest_first(std::vector<std::size_t>& hosts, const FreeGpus& free) {
  std::ranges::stable_sort(hosts, {}, [&](std::size_t host) { return free.count(host); });
}

using HostsOfUnits = std::vector<std::vector<std::size_t>>;

HostsOfUnits by_unit(const std::vector<std::size_t>& hosts, std::span<const std::uint32_t> unit_of_host) {
  HostsOfUnits units;
  for (const std::size_t host : hosts) {
    const std::uint32_t unit = unit_of_host[host];
    if (units.size() <= unit) units.resize(unit + 1);
    units[unit].push_back(host);
  }
  std::erase_if(units, [](const std::vector<std::size_t>& of_unit) { return of_unit.empty(); });
  return units;
}

// One host of each unit in turn.
std::vector<std::size_t> in_turn(const HostsOfUnits& units) {
  std::vector<std::size_t> hosts;
  std::size_t longest = 0;
  for (const auto& unit : units) longest = std::max(longest, unit.size());
  for (std::size_t turn = 0; turn < longest; ++turn) {
    for (const auto& unit : units) {
      if (turn < unit.size()) hosts.push_back(unit[turn]);
    }
  }
  return hosts;
}

// The smallest unit that holds all; without one, the largest units first, so that they are few.
std::vector<std::size_t> of_few_units(HostsOfUnits units, std::size_t needed) {
  std::ranges::stable_sort(units, {}, [](const auto& unit) { return unit.size(); });
  const auto fits = std::ranges::find_if(units, [&](const auto& unit) { return unit.size() >= needed; });
  if (fits != units.end()) return *fits;
  std::vector<std::size_t> hosts;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) hosts.insert(hosts.end(), unit->begin(), unit->end());
  return hosts;
}

std::vector<std::size_t> shuffled(std::vector<std::size_t> hosts, RandomStream stream) {
  for (std::size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[stream.next_below(i)]);
  return hosts;
}

// Candidates in the order in which the policy takes them.
std::vector<std::size_t> ordered_hosts(const JobEntry& job, const FreeGpus& free,
                                       std::span<const std::uint32_t> unit_of_host, std::uint64_t seed) {
  const auto per_host = static_cast<std::size_t>(job.gpus_per_host);
  std::vector<std::size_t> hosts = free.hosts_with(per_host);
  switch (job.placement) {
    case PlacementPolicy::kPacked: fullest_first(hosts, free); return hosts;
    case PlacementPolicy::kSpread: return in_turn(by_unit(hosts, unit_of_host));
    case PlacementPolicy::kRailAligned:
      fullest_first(hosts, free);
      return of_few_units(by_unit(hosts, unit_of_host), static_cast<std::size_t>(job.gpus) / per_host);
    case PlacementPolicy::kRandom: return shuffled(std::move(hosts), RandomStream(seed, "placement of " + job.name));
    case PlacementPolicy::kHosts: return {job.hosts.begin(), job.hosts.end()};
  }
  return hosts;
}

Diagnostic no_place(const JobEntry& job, const std::string& why) {
  return {.code = "E481", .place = job.place, .message = fmt::format("job '{}': {}", job.name, why)};
}

// Empty when the hosts can be taken.
std::string why_not(const JobEntry& job, const std::vector<std::size_t>& hosts, const FreeGpus& free) {
  const auto per_host = static_cast<std::size_t>(job.gpus_per_host);
  const std::size_t needed = static_cast<std::size_t>(job.gpus) / per_host;
  if (hosts.size() < needed) {
    return fmt::format("it takes {} hosts with {} free GPUs, and after the jobs before it there are {}", needed,
                       per_host, hosts.size());
  }
  std::set<std::size_t> used;
  for (std::size_t i = 0; i < needed; ++i) {
    if (!used.insert(hosts[i]).second) return fmt::format("host {} is listed twice", hosts[i]);
    if (free.count(hosts[i]) < per_host) {
      return fmt::format("host {} has {} free GPUs, and it takes {}", hosts[i], free.count(hosts[i]), per_host);
    }
  }
  return {};
}

struct HostShape {
  std::span<const std::uint32_t> unit_of_host;
  int gpus_per_host = 0;
};

// The first ranks of the other job have as many GPUs on each host as all of them.
JobHosts on_gpus_of(const JobEntry& job, const JobHosts& other, const HostShape& shape) {
  JobHosts own{.gpus = {other.gpus.begin(), other.gpus.begin() + static_cast<std::ptrdiff_t>(job.gpus)}};
  std::set<std::size_t> hosts;
  std::set<std::uint32_t> units;
  for (const RankId gpu : own.gpus) {
    const std::size_t host = gpu.index() / static_cast<std::size_t>(shape.gpus_per_host);
    hosts.insert(host);
    units.insert(shape.unit_of_host[host]);
  }
  own.hosts = hosts.size();
  own.units = units.size();
  return own;
}

}  // namespace

std::vector<std::uint32_t> units_of_hosts(const Fabric& fabric, const Cluster& cluster) {
  std::vector<std::set<std::uint32_t>> leaves(static_cast<std::size_t>(cluster.hosts));
  for (std::size_t l = 0; l < fabric.link_count(); ++l) {
    const LinkSpec& link = fabric.link(LinkId(l));
    const NodeSpec& from = fabric.node(link.from);
    const bool uplink = from.kind == NodeKind::kNic && fabric.node(link.to).kind == NodeKind::kLeaf;
    if (uplink && from.first >= 0 && from.first < cluster.hosts) {
      leaves[static_cast<std::size_t>(from.first)].insert(link.to.value);
    }
  }
  std::map<std::set<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> unit_of_host;
  for (const auto& of_host : leaves) {
    unit_of_host.push_back(known.try_emplace(of_host, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return unit_of_host;
}

Result<std::vector<JobHosts>> place_jobs(const Scenario& machine, std::span<const JobEntry> jobs,
                                         const Fabric& fabric) {
  const std::vector<std::uint32_t> unit_of_host = units_of_hosts(fabric, machine.cluster);
  FreeGpus free(machine.cluster.hosts, machine.cluster.host.gpus);
  std::vector<JobHosts> placed;
  Diagnostics problems;
  for (const JobEntry& job : jobs) {
    if (const auto partner = std::ranges::find(jobs, job.gpus_of, &JobEntry::name);
        !job.gpus_of.empty() && static_cast<std::size_t>(partner - jobs.begin()) < placed.size()) {
      placed.push_back(on_gpus_of(job, placed[static_cast<std::size_t>(partner - jobs.begin())],
                                  {.unit_of_host = unit_of_host, .gpus_per_host = machine.cluster.host.gpus}));
      continue;
    }
    std::vector<std::size_t> hosts = ordered_hosts(job, free, unit_of_host, machine.simulate.seed);
    if (const std::string why = why_not(job, hosts, free); !why.empty()) {
      problems.add(no_place(job, why));
      continue;
    }
    hosts.resize(static_cast<std::size_t>(job.gpus / job.gpus_per_host));
    // Schedulers number ranks by host, so that neighbours are near.
    if (job.placement != PlacementPolicy::kHosts) std::ranges::sort(hosts);
    JobHosts& own = placed.emplace_back();
    std::set<std::uint32_t> units;
    for (const std::size_t host : hosts) {
      units.insert(unit_of_host[host]);
      for (const int gpu : free.take(host, static_cast<std::size_t>(job.gpus_per_host))) {
        own.gpus.emplace_back(host * static_cast<std::size_t>(machine.cluster.host.gpus) +
                              static_cast<std::size_t>(gpu));
      }
    }
    own.hosts = hosts.size();
    own.units = units.size();
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return placed;
}

}  // namespace ringwright::configs
