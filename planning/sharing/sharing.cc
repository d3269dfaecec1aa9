#include "planning/sharing/sharing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/gpu_sharing_settings.h"
#include "configs/simulation/fault_run.h"
#include "configs/simulation/job_placement.h"
#include "configs/simulation/spilled_memory.h"
#include "configs/simulation/step_facts.h"
#include "configs/simulation/step_plan.h"
#include "core/base/text.h"
#include "planning/study/each_item.h"
#include "planning/study/first_error.h"
#include "workload/layout/stage_meshes.h"

namespace ringwright::planning {
namespace {

using configs::JobEntry;
using configs::PlacementPolicy;

constexpr std::size_t kContendedShown = 10;
constexpr double kLeastLoad = 1e-12;  // of a link with any traffic: below it is what rounding leaves

// The jobs of one arrangement on their GPUs.
struct Arranged {
  std::vector<JobEntry> entries;
  std::vector<configs::JobHosts> hosts;
  std::optional<configs::SharedRun> together;
  std::vector<std::optional<configs::SharedRun>> alone;  // by job
  Diagnostics problems;
};

Bytes peak_memory(const configs::Scenario& job) {
  Bytes most;
  for (const MemoryRow& row : configs::memory_rows(job)) most = std::max(most, row.total);
  return most;
}

bool spills(const configs::Scenario& machine) {
  return machine.gpu_sharing == SharingKind::kAntMan || machine.gpu_sharing == SharingKind::kTgs;
}

// By job: memory that does not fit together with the others on its GPUs, of opportunistic jobs of AntMan and TGS.
std::vector<Bytes> spilled_memory(const configs::SharedScenario& shared) {
  const configs::Scenario& machine = shared.machine;
  const std::vector<std::size_t> first = configs::first_tenants(machine.jobs);
  std::vector<Bytes> spilled(first.size());
  for (std::size_t of = 0; of < first.size() && spills(machine); ++of) {
    Bytes excess = Bytes(0) - machine.cluster.gpu.memory;
    for (std::size_t j = 0; j < first.size(); ++j) {
      if (first[j] == of) excess += peak_memory(shared.jobs[j]);
    }
    for (std::size_t j = first.size(); j-- > 0;) {
      if (first[j] != of || !machine.jobs[j].limits.opportunistic || excess <= Bytes(0)) continue;
      spilled[j] = std::min(excess, peak_memory(shared.jobs[j]));
      excess = excess - spilled[j];
    }
  }
  return spilled;
}

// The steps as they are where the jobs run together.
std::vector<workload::StepPlan> with_spilled_memory(const configs::SharedScenario& shared,
                                                    const std::vector<workload::StepPlan>& plans) {
  std::vector<workload::StepPlan> together = plans;
  const std::vector<Bytes> spilled = spilled_memory(shared);
  for (std::size_t j = 0; j < plans.size(); ++j) {
    if (spilled[j] > Bytes(0)) configs::spill_to_host(together[j].graph, spilled[j]);
  }
  return together;
}

std::vector<PlacedJob> placed_jobs(const configs::SharedScenario& shared, const std::vector<workload::StepPlan>& plans,
                                   const Arranged& arranged, std::optional<std::size_t> only) {
  std::vector<PlacedJob> jobs;
  for (std::size_t j = 0; j < plans.size(); ++j) {
    jobs.push_back({.graph = plans[j].graph,
                    .gpus = arranged.hosts[j].gpus,
                    .spec = {.name = arranged.entries[j].name,
                             .start = arranged.entries[j].start,
                             .host_awaits_receives = !shared.jobs[j].job.parallel.overlap_p2p,
                             .limits = arranged.entries[j].limits},
                    .runs = !only || *only == j});
  }
  return jobs;
}

void note_problems(Result<configs::SharedRun>&& run, std::optional<configs::SharedRun>& to, Diagnostics& problems) {
  if (run) {
    to = std::move(*run);
    return;
  }
  for (const Diagnostic& problem : run.error().all()) problems.add(problem);
}

// Loads that people cannot tell apart are equal.
std::int64_t rounded(double load) { return std::llround(load * 1e6); }

void list_contended(const Fabric& fabric, const Arranged& arranged, Arrangement& result) {
  struct Key {
    std::pair<NodeKind, NodeKind> kinds;
    std::vector<std::int64_t> loads;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, ContendedLink> found;
  for (std::size_t link = 0; link < arranged.together->link_load.size(); ++link) {
    ContendedLink here{.name = {}, .links = 1, .alone = {}, .together = arranged.together->link_load[link]};
    std::size_t users = 0;
    for (const auto& alone : arranged.alone) {
      here.alone.push_back(alone->link_load[link]);
        if (here.alone.back() > kLeastLoad) ++users;
    }
    if (users < 2) continue;
    ++result.contended_links;
    const LinkSpec& spec = fabric.link(LinkId(link));
    Key key{.kinds = {fabric.node(spec.from).kind, fabric.node(spec.to).kind}, .loads = {rounded(here.together)}};
    for (const double load : here.alone) key.loads.push_back(rounded(load));
    const auto [at, is_new] = found.try_emplace(std::move(key), std::move(here));
    if (is_new) {
      at->second.name = fabric.name(LinkId(link));
    } else {
      ++at->second.links;
    }
  }
  for (auto& [key, link] : found) result.links.push_back(std::move(link));
  const auto demand = [](const ContendedLink& link) {
    double sum = 0.0;
    for (const double load : link.alone) sum += load;
    return sum;
  };
  std::ranges::stable_sort(result.links, std::greater{}, demand);
  if (result.links.size() > kContendedShown) result.links.resize(kContendedShown);
}

void conclude(const configs::SharedScenario& shared, const std::vector<workload::StepPlan>& plans,
              const Fabric& fabric, Arranged& arranged, Arrangement& result) {
  if (arranged.problems.has_errors()) {
    const Diagnostic* const first = first_error(arranged.problems);
    result.code = first->code;
    result.reason = reason_of(*first);
    return;
  }
  result.events = arranged.together->events;
  const std::vector<Bytes> spilled = spilled_memory(shared);
  for (std::size_t j = 0; j < shared.jobs.size(); ++j) {
    result.jobs.push_back({.name = arranged.entries[j].name,
                           .placement = arranged.entries[j].gpus_of.empty()
                                            ? std::string(to_string(arranged.entries[j].placement))
                                            : "with " + arranged.entries[j].gpus_of,
                           .gpus_of = arranged.entries[j].gpus_of,
                           .gpus = arranged.entries[j].gpus,
                           .hosts = arranged.hosts[j].hosts,
                           .units = arranged.hosts[j].units,
                           .tokens_per_step = plans[j].tokens,
                           .processed = std::string(configs::processed_by(shared.jobs[j].job)),
                           .in_host_memory = spilled[j],
                           .together = arranged.together->jobs[j],
                           .alone = arranged.alone[j]->jobs[j]});
  }
  list_contended(fabric, arranged, result);
}

// What all jobs that list no hosts are placed with; empty: as each says.
std::vector<std::optional<PlacementPolicy>> policies(Placements placements) {
  std::vector<std::optional<PlacementPolicy>> all{std::nullopt};
  if (placements == Placements::kAsGiven) return all;
  return {std::nullopt, PlacementPolicy::kPacked, PlacementPolicy::kSpread, PlacementPolicy::kRailAligned,
          PlacementPolicy::kRandom};
}

Arranged arrange(const configs::SharedScenario& shared, const Fabric& fabric, std::optional<PlacementPolicy> policy) {
  Arranged arranged{.entries = shared.machine.jobs, .hosts = {}, .together = {}, .alone = {}, .problems = {}};
  for (JobEntry& entry : arranged.entries) {
    if (policy && entry.gpus_of.empty() && entry.placement != PlacementPolicy::kHosts) entry.placement = *policy;
  }
  arranged.alone.resize(arranged.entries.size());
  auto hosts = configs::place_jobs(shared.machine, arranged.entries, fabric);
  if (hosts) {
    arranged.hosts = std::move(*hosts);
  } else {
    arranged.problems = std::move(hosts.error());
  }
  return arranged;
}

// Jobs on the same GPUs need their memory together; an instance of MIG has a part of it.
void add_shared_memory(const configs::SharedScenario& shared, std::vector<std::string>& names) {
  const configs::Scenario& machine = shared.machine;
  const std::vector<std::size_t> first = configs::first_tenants(machine.jobs);
  const std::vector<Bytes> spilled = spilled_memory(shared);
  for (std::size_t of = 0; of < first.size(); ++of) {
    std::vector<std::string> on;
    Bytes needed;
    for (std::size_t j = 0; j < first.size(); ++j) {
      if (first[j] != of) continue;
      const Bytes own = peak_memory(shared.jobs[j]);
      const Bytes instance = scale(machine.cluster.gpu.memory, machine.jobs[j].limits.instance_memory);
      if (machine.gpu_sharing == SharingKind::kMig && own > instance) {
        names.push_back(fmt::format("{}: {} of an instance with {}", machine.jobs[j].name, to_string(own),
                                    to_string(instance)));
      }
      needed += own - spilled[j];
      on.push_back(machine.jobs[j].name);
    }
    if (on.size() < 2 || machine.gpu_sharing == SharingKind::kMig || needed <= machine.cluster.gpu.memory) continue;
    names.push_back(fmt::format("{} on one GPU: {} of {}", join(on, ", "), to_string(needed),
                                to_string(machine.cluster.gpu.memory)));
  }
}

std::string sharing_of(const configs::Scenario& machine) {
  return configs::share_gpus(machine.jobs) ? std::string(configs::to_string(machine.gpu_sharing)) : std::string();
}

// Of the GPUs on which a job has a pipeline stage, the one with the least memory.
Bytes memory_of_stage(const configs::Cluster& cluster, const configs::Scenario& job, const configs::JobHosts& hosts,
                      int stage) {
  const std::vector<int> stages =
      job.job.trains_transformer() ? workload::stage_of_ranks(job.job.parallel) : std::vector<int>();
  Bytes least = Bytes(INT64_MAX);
  for (std::size_t rank = 0; rank < hosts.gpus.size(); ++rank) {
    if (rank < stages.size() && stages[rank] != stage) continue;
    least = std::min(least, cluster.gpu_of_kind(cluster.kind_of_rank(hosts.gpus[rank])).memory);
  }
  return least;
}

void add_jobs_too_large(const configs::SharedScenario& shared, const Arranged& arranged,
                        std::vector<std::string>& names) {
  for (std::size_t j = 0; j < shared.jobs.size(); ++j) {
    for (const MemoryRow& row : configs::memory_rows(shared.jobs[j])) {
      const Bytes memory = memory_of_stage(shared.machine.cluster, shared.jobs[j], arranged.hosts[j], row.stage);
      if (row.total <= memory) continue;
      std::string name = fmt::format("{}: {} needs {} of {}", shared.machine.jobs[j].name, row.role(),
                                     to_string(row.total), to_string(memory));
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
      break;
    }
  }
}

// In an arrangement; hosts of a mixed cluster have GPUs of different sizes.
std::vector<std::string> jobs_too_large(const configs::SharedScenario& shared, const std::vector<Arranged>& arranged) {
  std::vector<std::string> names;
  for (const Arranged& own : arranged) {
    if (!own.hosts.empty()) add_jobs_too_large(shared, own, names);
  }
  add_shared_memory(shared, names);
  return names;
}

// Faults and traffic that begin after the end, and slow hosts without a job.
std::vector<std::string> unnoticed(const configs::Scenario& machine, const Arranged& arranged) {
  std::vector<std::string> notes;
  if (!arranged.together) return notes;
  for (const ReportWarning& late : configs::late_disturbances(machine, arranged.together->end)) {
    notes.push_back(late.text);
  }
  std::set<std::size_t> in_use;
  for (const configs::JobHosts& job : arranged.hosts) {
    for (const RankId gpu : job.gpus) in_use.insert(gpu.index() / static_cast<std::size_t>(machine.cluster.host.gpus));
  }
  for (std::size_t host = 0; host < machine.faults.slowdown_of_host.size(); ++host) {
    if (machine.faults.slowdown_of_host[host] > 1.0 && !in_use.contains(host)) {
      notes.push_back(fmt::format("the fault of host{}, which is slow, has no effect: no job is on it", host));
    }
  }
  return notes;
}

}  // namespace

SharingResult share_machine(const configs::SharedScenario& shared, const SharingOptions& options) {
  const configs::Scenario& machine = shared.machine;
  SharingResult result{.scenario = machine.name,
                       .hosts = machine.cluster.hosts,
                       .gpus = machine.cluster.gpus(),
                       .gpu_sharing = sharing_of(machine),
                       .too_large = {},
                       .notes = {},
                       .arrangements = {}};
  const network_models::Network network = machine.cluster.topology->build();
  std::vector<workload::StepPlan> plans;
  for (const configs::Scenario& job : shared.jobs) plans.push_back(configs::plan_step(job));
  const std::vector<workload::StepPlan> together = with_spilled_memory(shared, plans);

  std::vector<Arranged> arranged;
  for (const auto policy : policies(options.placements)) {
    arranged.push_back(arrange(shared, network.fabric, policy));
    result.arrangements.push_back({.placement = std::string(policy ? to_string(*policy) : "as given")});
  }
  result.too_large = jobs_too_large(shared, arranged);
  const std::size_t jobs = plans.size();
  const std::size_t all = arranged.size() * (1 + jobs);
  Workers workers = options.workers;
  if (workers.progress) {
    workers.progress = [&options, before = std::size_t{0}, all](std::size_t /*done*/, std::size_t /*of*/) mutable {
      options.workers.progress(++before, all);
    };
  }
  // First together, which finds the steps to compare; then each job alone.
  each_item(arranged.size(), workers, [&](std::size_t item) {
    Arranged& own = arranged[item];
    if (own.problems.has_errors()) return;
    const configs::Scenario& used = shared.in_mig_mode ? *shared.in_mig_mode : machine;
    note_problems(configs::run_jobs(used, placed_jobs(shared, together, own, std::nullopt),
                                    {.gpus = configs::GpuUse::kShared, .fold = options.fold}),
                  own.together, own.problems);
  });
  std::vector<Diagnostics> problems(arranged.size() * jobs);
  each_item(problems.size(), workers, [&](std::size_t item) {
    Arranged& own = arranged[item / jobs];
    const std::size_t job = item % jobs;
    if (!own.together) return;
    std::vector<StepWindow> windows;
    for (const configs::SharedJobFigures& figures : own.together->jobs) windows.push_back(figures.window);
    note_problems(configs::run_jobs(machine, placed_jobs(shared, plans, own, job),
                                    {.windows = std::move(windows), .fold = options.fold}),
                  own.alone[job], problems[item]);
  });
  for (std::size_t a = 0; a < arranged.size(); ++a) {
    for (std::size_t job = 0; job < jobs; ++job) {
      for (const Diagnostic& problem : problems[a * jobs + job].all()) arranged[a].problems.add(problem);
    }
    conclude(shared, plans, network.fabric, arranged[a], result.arrangements[a]);
  }
  result.notes = unnoticed(machine, arranged.front());
  return result;
}

}  // namespace ringwright::planning
