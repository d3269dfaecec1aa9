#include "configs/scenario/gpu_sharing_settings.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "configs/scenario/mig_profiles.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

// In the order of SharingKind, without kNone.
constexpr std::array kSharingKinds = {
    Option{"time_slicing", "processes take turns on the whole GPU, as without MPS"},
    Option{"mps", "their kernels run at the same time, each on at most `thread_percentage` of the multiprocessors"},
    Option{"mig", "each has an instance of the GPU, of a profile"},
    Option{"antman", "opportunistic jobs compute while the other job does not"},
    Option{"tgs", "opportunistic jobs compute as much as leaves the other job its speed, by adaptive rate control"}};

void deny(ConfigMap& map, std::string_view key, const std::string& message, const std::string& hint = {}) {
  map.error(key, std::string(kSharingCode), message, hint);
}

void read_partner(ConfigMap& map, const std::vector<JobEntry>& earlier, JobEntry& entry) {
  if (entry.gpus_of.empty()) return;
  const auto partner = std::ranges::find(earlier, entry.gpus_of, &JobEntry::name);
  if (partner == earlier.end()) {
    deny(map, "gpus_of", fmt::format("'{}' = {} is no job before '{}'", map.path_of("gpus_of"), entry.gpus_of,
                                       entry.name));
    entry.gpus_of.clear();
    return;
  }
  for (const std::string_view key : {"hosts", "placement"}) {
    if (map.has(key)) {
      deny(map, key, fmt::format("job '{}' is on the GPUs of '{}', and '{}' chooses others", entry.name,
                                   entry.gpus_of, map.path_of(key)));
    }
  }
  if (entry.gpus > partner->gpus) {
    deny(map, "gpus", fmt::format("job '{}' has {} GPUs, and '{}', whose GPUs it is on, has {}", entry.name,
                                    entry.gpus, entry.gpus_of, partner->gpus));
  }
  const auto per_host = static_cast<int>(std::min<std::int64_t>(entry.gpus, partner->gpus_per_host));
  if (map.has("gpus_per_host") && entry.gpus_per_host != per_host) {
    deny(map, "gpus_per_host", fmt::format("job '{}' has {} GPUs on each host, as '{}' has", entry.name, per_host,
                                             entry.gpus_of));
  }
  entry.gpus_per_host = per_host;
  if (entry.gpus % per_host != 0) {
    deny(map, "gpus", fmt::format("{} GPUs of job '{}' are not those of whole hosts with {}", entry.gpus, entry.name,
                                    per_host));
  }
}

void read_profile(ConfigMap& map, const Cluster& cluster, JobEntry& entry) {
  const std::vector<MigProfile> profiles = mig_profiles(cluster.gpu);
  if (profiles.empty()) {
    return deny(map, "mig_profile", fmt::format("no MIG profiles of the GPU {} are known", cluster.gpu.name),
                  "they are of a100, h100 and h200 presets");
  }
  const auto profile = std::ranges::find(profiles, entry.mig_profile, &MigProfile::name);
  if (profile == profiles.end()) {
    std::vector<std::string> names;
    for (const MigProfile& known : profiles) names.push_back(known.name);
    return deny(map, entry.mig_profile.empty() ? "name" : "mig_profile",
                  entry.mig_profile.empty()
                      ? fmt::format("job '{}' has no 'mig_profile', and the GPUs are in MIG mode", entry.name)
                      : fmt::format("'{}' = {} is no profile of {}", map.path_of("mig_profile"), entry.mig_profile,
                                    cluster.gpu.name),
                  "one of " + join(names, ", "));
  }
  entry.limits = profile->limits(cluster.gpu.sms);
}

void check_kind(ConfigMap& map, std::string_view key, bool fits, std::string_view kinds) {
  if (map.has(key) && !fits) {
    deny(map, key, fmt::format("'{}' needs 'gpu_sharing.kind: {}'", map.path_of(key), kinds));
  }
}

bool has_guarantees(SharingKind kind) { return kind == SharingKind::kAntMan || kind == SharingKind::kTgs; }

}  // namespace

std::string_view to_string(SharingKind kind) {
  return kind == SharingKind::kNone ? "none" : kSharingKinds[static_cast<std::size_t>(kind) - 1].name;
}

SharingKind read_gpu_sharing(ConfigMap root, bool several) {
  const bool counts = several || root.documenting();
  if (!counts && !root.has("gpu_sharing")) return SharingKind::kNone;
  ConfigMap map = root.map("gpu_sharing", "how jobs on the same GPUs share them");
  if (!counts) {
    map.ignore_rest("only several jobs on the same GPUs share them (`jobs`)");
    return SharingKind::kNone;
  }
  const std::string word = map.choice({.name = "kind",
                                       .doc = "by which mechanism",
                                       .fallback = std::string(kSharingKinds.front().name)},
                                      kSharingKinds);
  const auto found = std::ranges::find(kSharingKinds, word, &Option::name);
  return found == kSharingKinds.end() ? SharingKind::kTimeSlicing
                               : static_cast<SharingKind>(1 + (found - kSharingKinds.begin()));
}

void read_tenancy(ConfigMap& map, const Cluster& cluster, SharingKind kind, const std::vector<JobEntry>& earlier,
                  JobEntry& entry) {
  entry.gpus_of = map.text({.name = "gpus_of",
                            .doc = "an earlier job: this one is on the same GPUs, as many as it has (gpu_sharing)",
                            .fallback = std::string()});
  const double percentage =
      map.number({.name = "thread_percentage",
                  .doc = "MPS: most multiprocessors of the job's kernels, in percent "
                         "(CUDA_MPS_ACTIVE_THREAD_PERCENTAGE)",
                  .fallback = 100.0,
                  .min = 1.0,
                  .max = 100.0});
  entry.mig_profile = map.text({.name = "mig_profile",
                                .doc = "MIG: the profile of the job's instances, as 3g.40gb",
                                .fallback = std::string()});
  entry.limits.opportunistic =
      map.boolean({.name = "opportunistic", .doc = "AntMan, TGS: the job gets what the other one leaves",
                .fallback = false});
  if (map.documenting()) return;
  read_partner(map, earlier, entry);
  check_kind(map, "thread_percentage", kind == SharingKind::kMps, "mps");
  check_kind(map, "mig_profile", kind == SharingKind::kMig, "mig");
  check_kind(map, "opportunistic", has_guarantees(kind), "antman or tgs");
  entry.limits.sms = percentage / 100.0;
  if (kind == SharingKind::kMig) read_profile(map, cluster, entry);
}

std::vector<std::size_t> first_tenants(const std::vector<JobEntry>& jobs) {
  std::vector<std::size_t> first;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto partner = std::ranges::find(jobs, jobs[j].gpus_of, &JobEntry::name);
    const bool shares = !jobs[j].gpus_of.empty() && partner != jobs.end();
    first.push_back(shares ? first[static_cast<std::size_t>(partner - jobs.begin())] : j);
  }
  return first;
}

bool share_gpus(const std::vector<JobEntry>& jobs) {
  return std::ranges::any_of(jobs, [](const JobEntry& job) {
    return !job.gpus_of.empty() || !job.mig_profile.empty() || job.limits != TenantLimits();
  });
}

namespace {

void check_instances(ConfigMap& root, const Scenario& machine, const std::vector<std::size_t>& first) {
  const std::vector<MigProfile> profiles = mig_profiles(machine.cluster.gpu);
  for (std::size_t of = 0; of < first.size(); ++of) {
    int compute = 0;
    int memory = 0;
    for (std::size_t j = 0; j < first.size(); ++j) {
      const auto profile = std::ranges::find(profiles, machine.jobs[j].mig_profile, &MigProfile::name);
      if (first[j] != of || profile == profiles.end()) continue;
      compute += profile->compute_slices;
      memory += profile->memory_slices;
    }
    if (compute <= kMigComputeSlices && memory <= kMigMemorySlices) continue;
    deny(root, "jobs", fmt::format("the instances on the GPUs of job '{}' have {} of {} compute slices and {} of {} "
                                     "memory slices", machine.jobs[of].name, compute, kMigComputeSlices, memory,
                                     kMigMemorySlices));
  }
}

void check_guarantees(ConfigMap& root, const Scenario& machine, const std::vector<std::size_t>& first) {
  for (std::size_t of = 0; of < first.size(); ++of) {
    int all = 0;
    int guaranteed = 0;
    for (std::size_t j = 0; j < first.size(); ++j) {
      if (first[j] != of) continue;
      ++all;
      if (!machine.jobs[j].limits.opportunistic) ++guaranteed;
    }
    if (all < 2 || guaranteed == 1) continue;
    deny(root, "jobs",
         fmt::format("of the {} jobs on the GPUs of '{}', {} are not opportunistic, and {} has one "
                     "such job on a GPU",
                     all, machine.jobs[of].name, guaranteed, to_string(machine.gpu_sharing)),
         guaranteed == 0 ? "leave 'opportunistic' out of one of them" : "opportunistic: true");
  }
}

}  // namespace

void check_tenancy(ConfigMap root, const Scenario& machine) {
  if (root.documenting()) return;
  if (!share_gpus(machine.jobs)) {
    if (root.has("gpu_sharing"))
      root.ignore("gpu_sharing", "no job is on the GPUs of another one, or limited on its own");
    return;
  }
  const std::vector<std::size_t> first = first_tenants(machine.jobs);
  if (!machine.interference.counts) {
    deny(root, "jobs", "jobs share GPUs by the rule by which kernels and communication share them, and it is off",
           "interference: {model: share}");
  }
  if (!machine.faults.links.empty() || !machine.faults.at_steps.empty()) {
    deny(root, "faults", "faults of links are not simulated where jobs share GPUs");
  }
  if (machine.cluster.mixed()) deny(root, "jobs", "jobs share GPUs of one kind only, and the cluster has several");
  if (machine.gpu_sharing == SharingKind::kMig) {
    if (machine.cluster.fabric == "graph") {
      deny(root, "gpu_sharing", "instances of MIG send through host memory, and a fabric of type graph has none");
    }
    check_instances(root, machine, first);
  }
  if (has_guarantees(machine.gpu_sharing) && machine.cluster.fabric == "graph") {
    deny(root, "gpu_sharing", "memory that does not fit lies in that of hosts, and a fabric of type graph has none");
  }
  if (has_guarantees(machine.gpu_sharing)) check_guarantees(root, machine, first);
}

}  // namespace ringwright::configs
