#include "planning/operation/policies/builtin_policies.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

// A restart needs no other copy of the state.
std::string needs_units(const Operation& job) {
  return job.job.units() > 1 ? "" : needs_replicas(job);
}

// Of policies that divide hosts.
std::string needs_whole_hosts(const Operation& job) {
  if (std::string refusal = needs_replicas(job); !refusal.empty()) return refusal;
  if (job.job.hosts_are_whole()) return "";
  return fmt::format("a replica of {} GPUs ends within a host of {}", job.job.gpus_per_replica(),
                     job.job.gpus_per_host);
}

std::string needs_two_hosts_per_replica(const Operation& job) {
  if (job.job.hosts_per_replica() < 2) return "a replica lies on one host, which has no neighbour in its pipeline";
  return job.job.replicas > 1 ? needs_whole_hosts(job) : "";
}

constexpr std::array kPolicies = {
    PolicyEntry{.name = "restart",
                .help = "all ranks restart from the newest checkpoint, with replacements for lost hosts",
                .make = make_restart},
    PolicyEntry{.name = "hot_spare",
                .help = "a warm standby replaces a lost host, with the state of another replica",
                .make = make_hot_spare},
    PolicyEntry{.name = "shrink",
                .help = "restart with as many whole replicas as there are hosts for, and grow when hosts return",
                .make = make_shrink,
                .refusal = needs_units},
    PolicyEntry{.name = "replica_drop",
                .help = "the other replicas continue, and a lost one rejoins (torchft, FT-HSDP)",
                .make = make_replica_drop,
                .refusal = needs_replicas},
    PolicyEntry{.name = "redundant",
                .help = "a neighbour in the pipeline stores and computes the lost stage (Bamboo)",
                .make = make_redundant,
                .refusal = needs_two_hosts_per_replica},
    PolicyEntry{.name = "templates",
                .help = "pipelines are rebuilt from templates over the remaining hosts (Oobleck)",
                .make = make_templates,
                .refusal = needs_whole_hosts},
    PolicyEntry{.name = "logging",
                .help = "only lost stages are recomputed, from logged messages (Swift)",
                .make = make_logging},
    PolicyEntry{.name = "commit",
                .help = "the other workers return to the last in-memory commit and continue (Elastic Horovod)",
                .make = make_commit,
                .refusal = needs_replicas,
                .copies_state = true},
    PolicyEntry{.name = "shrink_collective",
                .help = "the other ranks shrink the communicator and repeat the failed collective (ULFM)",
                .make = make_shrink_collective,
                .refusal = needs_replicas,
                .copies_state = true},
    PolicyEntry{.name = "reshard",
                .help = "the remaining hosts re-partition the job and fetch missing state (Tenplex)",
                .make = make_reshard,
                .refusal = needs_whole_hosts,
                .copies_state = true},
    PolicyEntry{.name = "shards",
                .help = "the shard of a lost worker returns to the queue; no worker stops (ElasticDL)",
                .make = make_shards},
};

}  // namespace

std::span<const PolicyEntry> recovery_policies() {
  return kPolicies;
}

const PolicyEntry* find_policy(std::string_view name) {
  const auto found = std::ranges::find(kPolicies, name, &PolicyEntry::name);
  return found == kPolicies.end() ? nullptr : &*found;
}

}  // namespace ringwright::planning
