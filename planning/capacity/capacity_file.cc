#include "planning/capacity/capacity_file.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/search_settings.h"
#include "configs/scenario/shipped_file.h"
#include "core/config/config_document.h"
#include "core/config/near_file.h"
#include "planning/study/known_keys.h"

namespace ringwright::planning {
namespace {

constexpr std::array kCapacityObjectives{Option{"days", "the shortest training run"},
                                         Option{"usd", "the least money; every machine has a 'cost'"},
                                         Option{"gpus", "the fewest GPUs"}};
constexpr double kMostTokens = 1e18;
constexpr std::int64_t kMostMachineHosts = 1'000'000;

// The axis that replaces this key of the scenario in every layout; empty: none does. The scenario's own recomputation
// and schedule are among those that are tried.
std::string chosen_axis(std::string_view key) {
  if (key.starts_with("search.")) return {};
  std::string axis = configs::axis_of(key);
  return axis == "recompute" || axis == "schedule" ? std::string() : axis;
}

// Calls `use(map, name, key)` with the value at `name` of the map, or with each value in the maps below it: the full
// key of `parallel: {tp: 2}` is parallel.tp as well.
template <typename Use>
void for_each_value(ConfigMap& map, const std::string& prefix, const std::string& name, const Use& use) {
  if (!map.has_map(name)) {
    static_cast<void>(map.setting(name));  // read: scenarios check it
    return use(map, name, prefix + name);
  }
  ConfigMap below = map.map(name, "");
  for (const std::string& each : below.keys()) for_each_value(below, prefix + name + ".", each, use);
}

class CapacityReader {
 public:
  explicit CapacityReader(ConfigMap root) : root_(root) {}

  [[nodiscard]] CapacityPlan read() {
    CapacityPlan plan;
    static_cast<void>(root_.integer({.name = "version", .doc = "of this format", .fallback = 1, .min = 1, .max = 1}));
    plan.name = root_.text({.name = "name", .doc = "of the study in reports", .fallback = std::string("capacity")});
    plan.scenario = root_.text({.name = "scenario", .doc = "the model and its training: a file, or a shipped one"});
    ConfigMap set = root_.map("set", "values for all machines");
    plan.settings = settings_in(set);
    plan.tokens = root_.number({.name = "tokens", .doc = "of the whole training run", .min = 1, .max = kMostTokens});
    plan.goodput = root_.percent({.name = "goodput",
                                  .doc = "share of the time that becomes progress (`ringwright goodput`)",
                                  .fallback = 1.0,
                                  .min = 0.01,
                                  .max = 1.0});
    plan.objective = objective_named(root_.choice(
        {.name = "objective", .doc = "what ranks the machines", .fallback = std::string("days")}, kCapacityObjectives));
    plan.replay = static_cast<int>(root_.integer({.name = "replay",
                                                  .doc = "the best layouts of each machine, simulated with the "
                                                         "scenario's own models",
                                                  .fallback = 3,
                                                  .min = 1,
                                                  .max = 1000}));
    read_machines(plan);
    read_budget(plan.budget);
    return plan;
  }

 private:
  [[nodiscard]] static CapacityObjective objective_named(std::string_view name) {
    const auto found = std::ranges::find(kCapacityObjectives, name, &Option::name);
    const auto index = found == kCapacityObjectives.end() ? 0 : found - kCapacityObjectives.begin();
    return static_cast<CapacityObjective>(index);
  }

  // "KEY=VALUE" of each key that scenarios have; the others are mistakes.
  [[nodiscard]] std::vector<std::string> settings_in(ConfigMap& set) {
    std::vector<std::string> settings;
    for (const std::string& key : set.keys()) {
      if (!known_.has(key)) set.error(key, "E301", known_.why_unknown(key));
      for_each_value(set, "", key, refuse_chosen);
      settings.push_back(key + "=" + set.setting(key));
    }
    return settings;
  }

  static void refuse_chosen(ConfigMap& map, const std::string& name, const std::string& key) {
    if (key == "parallel.dp" && map.setting(name) != "auto") {
      map.error(name, "E620", "'parallel.dp' follows from the GPUs and the layout that the search chooses",
                "limit the search, as search.tp: [2], or the number of hosts");
    }
    const std::string axis = chosen_axis(key);
    if (axis.empty()) return;
    map.error(name, "E620", fmt::format("'{}' is what the search of layouts chooses", key),
              fmt::format("limit the search: search.{}: [{}]", axis, map.setting(name)));
  }

  static void refuse_hosts(ConfigMap& set, const std::string& machine) {
    const auto refuse = [&machine](ConfigMap& map, const std::string& name, const std::string& key) {
      if (key != "cluster.nodes") return;
      map.error(name, "E620", fmt::format("machine '{}' gives its hosts twice", machine),
                "leave out one of 'hosts' and 'cluster.nodes'");
    };
    for (const std::string& key : set.keys()) for_each_value(set, "", key, refuse);
  }

  void read_machines(CapacityPlan& plan) {
    std::set<std::string> names;
    std::size_t candidates = 0;
    for (ConfigMap& map : root_.maps("machines", "the machines that are considered")) {
      CapacityMachine machine;
      machine.name = map.text({.name = "name", .doc = "of the machine in reports"});
      machine.hosts = map.integers({.name = "hosts",
                                    .doc = "numbers of hosts (`cluster.nodes`); default: the scenario's",
                                    .fallback = 0,
                                    .min = 1,
                                    .max = kMostMachineHosts});
      std::ranges::sort(machine.hosts);
      machine.hosts.erase(std::unique(machine.hosts.begin(), machine.hosts.end()), machine.hosts.end());
      ConfigMap set = map.map("set", "what distinguishes this machine, as: { cluster.node.preset: dgx-b200 }");
      machine.settings = settings_in(set);
      if (!machine.hosts.empty()) refuse_hosts(set, machine.name);
      if (!names.insert(machine.name).second) {
        map.error("name", "E620", fmt::format("two machines have the name '{}'", machine.name));
      }
      candidates += std::max<std::size_t>(1, machine.hosts.size());
      plan.machines.push_back(std::move(machine));
    }
    if (plan.machines.empty() && !root_.documenting()) {
      root_.error("machines", "E620", "no machine is given",
                  "as: machines: [{name: B200, hosts: [16, 32], set: {cluster.node.preset: dgx-b200}}]");
    }
    if (candidates > kMostCapacityCandidates) {
      root_.error("machines", "E620",
                  fmt::format("there are {} machines and numbers of hosts, and at most {} are searched", candidates,
                              kMostCapacityCandidates));
    }
  }

  void read_budget(CapacityBudget& budget) {
    ConfigMap map = root_.map("budget", "limits of the training run");
    const auto limit = [&map](std::string_view name, std::string_view doc) -> std::optional<double> {
      if (!map.has(name) && !map.documenting()) return std::nullopt;
      return map.number({.name = name, .doc = doc, .min = 0.0});
    };
    budget.days = limit("days", "at most as many");
    budget.usd = limit("usd", "at most as much money; needs 'cost'");
    budget.megawatt_hours = limit("megawatt_hours", "at most as much energy; needs 'cost'");
    if (map.has("gpus") || map.documenting()) {
      budget.gpus = map.integer({.name = "gpus", .doc = "at most as many", .min = 1});
    }
  }

  ConfigMap root_;
  KnownKeys known_;
};

Result<CapacityPlan> read_capacity(ConfigDocument document) {
  CapacityPlan plan = CapacityReader(document.root()).read();
  document.check_all_read();
  if (document.log().diagnostics().has_errors()) return tl::unexpected(document.log().diagnostics());
  const ConfigSource* const file = document.file();
  plan.scenario = near_file(file != nullptr ? file->path : "", plan.scenario).value_or(plan.scenario);
  return plan;
}

}  // namespace

std::string_view to_string(CapacityObjective objective) {
  return kCapacityObjectives[static_cast<std::size_t>(objective)].name;
}

Result<CapacityPlan> load_capacity(const std::string& path) {
  if (const auto found = configs::find_study("capacity file", path); !found) return tl::unexpected(found.error());
  auto document = ConfigDocument::load(path);
  if (!document) return tl::unexpected(document.error());
  return read_capacity(std::move(*document));
}

Result<CapacityPlan> load_capacity_text(const std::string& name, std::string_view text) {
  auto document = ConfigDocument::load_text(name, text);
  if (!document) return tl::unexpected(document.error());
  return read_capacity(std::move(*document));
}

}  // namespace ringwright::planning
