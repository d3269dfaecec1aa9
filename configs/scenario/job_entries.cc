#include "configs/scenario/job_entries.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/gpu_sharing_settings.h"
#include "configs/scenario/scenario.h"
#include "core/config/near_file.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kEntryCode = "E480";
constexpr std::string_view kPlacementCode = "E481";

constexpr std::array kPlacements = {
    Option{"packed", "the first hosts that are free"},
    Option{"spread", "hosts from all units of the fabric in turn; a unit is the hosts on the same leaf switches"},
    Option{"rail_aligned", "hosts of as few units as possible, so that rails end at the same leaf switches"},
    Option{"random", "any free hosts, drawn with simulate.seed"}, Option{"hosts", "those that `hosts` lists"}};

constexpr std::array<std::string_view, 7> kJobBlocks{"model",    "training",       "parallel",   "memory",
                                                  "workload", "recommendation", "layer_table"};

void read_job_settings(ConfigMap& map, JobEntry& entry) {
  for (const std::string_view block : kJobBlocks) {
    if (!map.has(block)) continue;
    const std::string prefix = std::string(block) + ".";
    ConfigMap values = map.map(block, "");
    for (const std::string& key : values.keys()) entry.settings.push_back(prefix + key + "=" + values.setting(key));
  }
  ConfigMap set = map.map("set", "keys of the job with their values, as --set takes them: parallel.tp: 8");
  for (const std::string& key : set.keys()) {
    const auto is_in = [&](std::string_view block) { return key.starts_with(std::string(block) + "."); };
    if (std::ranges::none_of(kJobBlocks, is_in)) {
      set.error(key, std::string(kEntryCode), fmt::format("'{}' is a key of the machine, which all jobs share", key),
                "a job has keys of model, training, parallel, memory, workload, recommendation and layer_table");
    }
    entry.settings.push_back(key + "=" + set.setting(key));
  }
}

void read_size(ConfigMap& map, const Cluster& cluster, JobEntry& entry) {
  entry.gpus = map.integer({.name = "gpus", .doc = "GPUs of the job", .min = 1});
  const std::int64_t usual = std::min<std::int64_t>(entry.gpus, cluster.host.gpus);
  entry.gpus_per_host = static_cast<int>(map.integer({.name = "gpus_per_host",
                                                      .doc = "GPUs of the job on each of its hosts; default: whole "
                                                             "hosts",
                                                      .fallback = map.documenting() ? 8 : usual,
                                                      .min = 1}));
  if (map.documenting()) return;
  // Bounds of the cluster are none of the schema.
  const auto check_most = [&](std::string_view key, std::int64_t& number, std::int64_t most) {
    if (number <= most) return;
    map.error(key, std::string(kEntryCode),
              fmt::format("'{}' = {}, and the machine has {}", map.path_of(key), number, most));
    number = most;
  };
  std::int64_t per_host = entry.gpus_per_host;
  check_most("gpus", entry.gpus, cluster.gpus());
  check_most("gpus_per_host", per_host, cluster.host.gpus);
  entry.gpus_per_host = static_cast<int>(per_host);
  if (entry.gpus % entry.gpus_per_host != 0) {
    map.error("gpus", std::string(kEntryCode),
              fmt::format("'{}' = {} is no multiple of the {} GPUs on each of its hosts", map.path_of("gpus"),
                          entry.gpus, entry.gpus_per_host),
              "give gpus_per_host a divisor");
  }
}

void read_placement(ConfigMap& map, const Cluster& cluster, JobEntry& entry) {
  entry.hosts =
      map.integers({.name = "hosts", .doc = "hosts of the job, numbered from 0, in the order of its ranks", .min = 0});
  const std::string word = map.choice({.name = "placement",
                                       .doc = "which hosts the job gets",
                                       .fallback = std::string(entry.hosts.empty() ? "packed" : "hosts")},
                                      kPlacements);
  const auto found = std::ranges::find(kPlacements, word, &Option::name);
  entry.placement = static_cast<PlacementPolicy>(found - kPlacements.begin());
  if (map.documenting()) return;
  const bool outside =
      std::ranges::any_of(entry.hosts, [&](std::int64_t host) { return host < 0 || host >= cluster.hosts; });
  if (outside) {
    map.error(
        "hosts", std::string(kPlacementCode),
        fmt::format("'{}' lists a host that is none of the {}, numbered from 0", map.path_of("hosts"), cluster.hosts));
    entry.hosts.clear();
  }
  const bool listed = entry.placement == PlacementPolicy::kHosts;
  const auto needed = static_cast<std::size_t>(entry.gpus / entry.gpus_per_host);
  if (listed && !outside && entry.hosts.size() != needed) {
    map.error("hosts", std::string(kPlacementCode),
              fmt::format("'{}' lists {} hosts, and {} GPUs with {} on each take {}", map.path_of("hosts"),
                          entry.hosts.size(), entry.gpus, entry.gpus_per_host, needed));
  }
  if (!listed && !entry.hosts.empty()) {
    map.error("hosts", std::string(kPlacementCode),
              fmt::format("'{}' are listed, and 'placement: {}' chooses others", map.path_of("hosts"), word),
              "leave one of them out");
  }
}

// Relative to the file, or the name of a shipped scenario.
std::string path_of_scenario(const ConfigMap& map, const std::string& name) {
  if (name.empty()) return {};
  if (auto near = near_file(map.place("scenario").file, name)) return *near;
  const std::string shipped = scenario_path(load_options({}), name);
  return shipped.empty() ? name : shipped;
}

}  // namespace

std::string_view to_string(PlacementPolicy policy) {
  return kPlacements[static_cast<std::size_t>(policy)].name;
}

std::vector<std::string_view> job_blocks() {
  return {kJobBlocks.begin(), kJobBlocks.end()};
}

std::vector<JobEntry> read_job_entries(ConfigMap root, const Cluster& cluster, SharingKind sharing) {
  std::vector<JobEntry> entries;
  for (ConfigMap& map : root.maps("jobs", "several jobs on this machine, which `ringwright jobs` simulates together")) {
    JobEntry entry;
    entry.place = map.place("name");
    entry.name = map.text({.name = "name", .doc = "name of the job in reports"});
    entry.scenario = path_of_scenario(map, map.text({.name = "scenario",
                                                     .doc = "a scenario, by file or shipped name, whose model, "
                                                            "training, parallel and memory the job has; default: those "
                                                            "of this file",
                                                     .fallback = std::string()}));
    read_size(map, cluster, entry);
    read_placement(map, cluster, entry);
    read_tenancy(map, cluster, sharing, entries, entry);
    entry.start = map.duration({.name = "start",
                                .doc = "when its first step starts, from the start of the run",
                                .fallback = Duration(0),
                                .min = Duration(0)});
    read_job_settings(map, entry);
    if (map.documenting()) continue;
    if (std::ranges::find(entries, entry.name, &JobEntry::name) != entries.end()) {
      map.error("name", std::string(kEntryCode), fmt::format("two jobs have the name '{}'", entry.name));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace ringwright::configs
