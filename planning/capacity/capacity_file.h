// A capacity file: a model to train on some number of tokens, the machines that are considered, and a budget.
//
//     scenario: llama3-70b-search-64-h100
//     tokens: 1e12
//     machines:
//       - { name: H100, hosts: [8, 16, 32], set: { cluster.node.preset: dgx-h100, cost.preset: dgx-h100 } }
//       - { name: B200, hosts: [8, 16, 32], set: { cluster.node.preset: dgx-b200, cost.preset: dgx-b200 } }
//     budget: { usd: 3e6, days: 30 }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::planning {

// kUsd needs `cost` in the scenario or in every machine.
enum class CapacityObjective { kDays, kUsd, kGpus };
[[nodiscard]] std::string_view to_string(CapacityObjective objective);  // "days", "usd", "gpus"

struct CapacityMachine {
  std::string name;
  std::vector<std::int64_t> hosts;    // empty: as many as the scenario has
  std::vector<std::string> settings;  // as --set takes them
};

// Empty: no limit.
struct CapacityBudget {
  std::optional<double> days;
  std::optional<double> usd;
  std::optional<double> megawatt_hours;
  std::optional<std::int64_t> gpus;
};

struct CapacityPlan {
  std::string name;
  std::string scenario;               // path of the file, or the name of a shipped one
  std::vector<std::string> settings;  // of all machines
  double tokens = 0.0;                // of the whole training run
  double goodput = 1.0;               // share of the time that becomes progress; 1: nothing fails
  CapacityObjective objective = CapacityObjective::kDays;
  int replay = 0;  // layouts of each machine that are simulated with the scenario's own models
  std::vector<CapacityMachine> machines;
  CapacityBudget budget;
};

inline constexpr std::size_t kMostCapacityCandidates = 1'000;  // machines and numbers of hosts

[[nodiscard]] Result<CapacityPlan> load_capacity(const std::string& path);
[[nodiscard]] Result<CapacityPlan> load_capacity_text(const std::string& name, std::string_view text);

}  // namespace ringwright::planning
