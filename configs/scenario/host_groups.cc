#include "configs/scenario/host_groups.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kGroupCode = "E590";
constexpr std::int64_t kMostHosts = 1'000'000;

struct GroupRead {
  HostGroup group;
  network_models::Host host;
};

GroupRead read_group(ConfigMap& map) {
  GroupRead read;
  HostGroup& group = read.group;
  group.name = map.text({.name = "name", .doc = "of the group in reports; default: that of its GPU",
                         .fallback = std::string()});
  group.hosts = map.integer({.name = "nodes", .doc = "number of hosts of the group", .min = 1, .max = kMostHosts});
  const bool gpudirect =
      map.boolean({.name = "gpudirect",
                   .doc = "whether NICs of the group read and write GPU memory; otherwise data that leave or enter a "
                          "host are staged in its memory",
                   .fallback = true});
  ConfigMap node =
      map.map("node", "one host of the group, with the keys of cluster.node; `preset` names a shipped one");
  read.host = network_models::read_host(node);
  ConfigMap gpu = node.map("gpu", "the GPU of the host; `preset` names a shipped one");
  group.gpu = workload::read_gpu_spec(gpu);
  read.host.gpudirect = gpudirect;
  if (group.name.empty()) group.name = group.gpu.name;
  return read;
}

// "A100", and a second group of them "A100 (2)".
void tell_apart(const std::vector<HostGroup>& groups, HostGroup& group) {
  const std::string name = group.name;
  for (int number = 2; std::ranges::find(groups, group.name, &HostGroup::name) != groups.end(); ++number) {
    group.name = fmt::format("{} ({})", name, number);
  }
}

// A cluster that nothing is wrong with, after an error.
void take_any(Cluster& cluster) {
  cluster.hosts = 1;
  cluster.host.pcie.gpu_at = {0};
}

}  // namespace

void read_host_groups(ConfigMap& map, Cluster& cluster) {
  std::vector<ConfigMap> maps = map.maps(
      "groups", "groups of hosts of different kinds, instead of `nodes` and `node`; ranks fill them in this order");
  for (ConfigMap& group : maps) {
    GroupRead read = read_group(group);
    if (map.documenting()) return;
    const bool first = cluster.groups.empty();
    if (!first && read.host.gpus != cluster.host.gpus) {
      group.error("node", std::string(kGroupCode),
                  fmt::format("'{}' has {} GPUs, and hosts of the first group have {}", group.path_of("node"),
                              read.host.gpus, cluster.host.gpus),
                  "hosts of all groups have the same number of GPUs: set node.gpus, and describe larger hosts as "
                  "several");
      read.host = cluster.host;
      read.host.others.clear();
    }
    const int kind = static_cast<int>(cluster.groups.size());
    tell_apart(cluster.groups, read.group);
    if (first) {
      cluster.hosts = 0;
      cluster.host = std::move(read.host);
      cluster.gpu = read.group.gpu;
    } else {
      cluster.host.others.push_back(std::move(read.host));
    }
    cluster.hosts += read.group.hosts;
    if (cluster.hosts > kMostHosts) {
      group.error("nodes", std::string(kGroupCode),
                  fmt::format("the groups have {} hosts together, and may have {}", cluster.hosts, kMostHosts));
      cluster.hosts -= read.group.hosts;
      read.group.hosts = 0;
    }
    cluster.host.kind_of_host.insert(cluster.host.kind_of_host.end(), static_cast<std::size_t>(read.group.hosts), kind);
    cluster.groups.push_back(std::move(read.group));
  }
  if (map.documenting()) return;
  if (maps.empty()) {
    map.error("groups", std::string(kGroupCode), fmt::format("'{}' lists no group", map.path_of("groups")),
              "groups: [{nodes: 4, node: {preset: dgx-h100}}, {nodes: 4, node: {preset: dgx-a100}}]");
    take_any(cluster);
  }
  for (const std::string_view key : {"nodes", "node"}) {
    if (!map.has(key)) continue;
    const bool of_machine = map.origin(key).starts_with("preset:");  // whose fabric is used
    if (!of_machine) {
      map.error(key, std::string(kGroupCode),
                fmt::format("'{}' describes hosts that are all the same, and '{}' lists groups", map.path_of(key),
                            map.path_of("groups")),
                "leave one of them out");
    }
    map.ignore(key, "cluster.groups lists the hosts");
  }
  // One group is a cluster of one kind.
  if (cluster.host.others.empty()) cluster.host.kind_of_host.clear();
}

const workload::GpuSpec& Cluster::gpu_of_kind(int kind) const {
  return groups.empty() ? gpu : groups[static_cast<std::size_t>(kind)].gpu;
}

int Cluster::kind_of_rank(RankId rank) const {
  if (!mixed()) return 0;
  return host.kind_of_host[rank.index() / static_cast<std::size_t>(host.gpus)];
}

std::vector<int> Cluster::kind_of_ranks(std::size_t ranks) const {
  std::vector<int> kinds;
  for (std::size_t rank = 0; mixed() && rank < ranks; ++rank) kinds.push_back(kind_of_rank(RankId(rank)));
  return kinds;
}

void Cluster::number_nic_sets() {
  nic_set_of_host = host.nic_sets.of_host;
  if (!mixed()) return;
  nic_set_of_host.resize(static_cast<std::size_t>(hosts), 0);
  for (std::size_t h = 0; h < nic_set_of_host.size(); ++h) {
    nic_set_of_host[h] += host.kind_of_host[h] * kNicSetsOfKind;
  }
}

Bandwidth Cluster::slowest_memory() const {
  Bandwidth slowest = gpu.memory_bandwidth;
  for (const HostGroup& group : groups) slowest = std::min(slowest, group.gpu.memory_bandwidth);
  return slowest;
}

std::string Cluster::gpu_names() const {
  std::vector<std::string> names;
  for (const HostGroup& group : groups) {
    if (std::ranges::find(names, group.gpu.name) == names.end()) names.push_back(group.gpu.name);
  }
  return names.empty() ? gpu.name : join(names, " and ");
}

bool Cluster::mixes_vendors() const {
  return std::ranges::any_of(groups, [&](const HostGroup& group) { return group.gpu.nvidia != gpu.nvidia; });
}

const HostGroup* Cluster::oldest_group() const {
  const auto oldest = std::ranges::min_element(
      groups, {}, [](const HostGroup& group) { return group.gpu.compute_capability; });
  return oldest == groups.end() ? nullptr : &*oldest;
}

}  // namespace ringwright::configs
