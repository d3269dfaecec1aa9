// A sweep file: a scenario, the keys that are varied, and the conditions that points meet.
//
//     scenario: llama.yaml
//     grid: { parallel.tp: [4, 8], cluster.nodes: [16, 32] }
//     where: [ "parallel.tp * parallel.pp <= 64" ]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/sweep/condition.h"
#include "planning/sweep/sampling.h"

namespace ringwright::planning {

inline constexpr std::size_t kMostSweepCombinations = 1'000'000;  // before conditions
inline constexpr std::size_t kMostSweepPoints = 100'000;

struct KeyValue {
  std::string key;
  std::string value;  // as --set takes it
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

enum class SweepObjective {
  kStepTime,
  kTokensPerSecond,
  kTokensPerSecondPerGpu,
  kModelFlopUtilisation,
  kMemory,
  kCost
};
[[nodiscard]] std::string_view to_string(SweepObjective objective);
[[nodiscard]] std::vector<std::string> sweep_objective_names();
// The first one for any other name, which the reader refuses.
[[nodiscard]] SweepObjective objective_named(std::string_view name);

// A block of partial points: the sweep has every combination of one entry of each block.
struct SweepBlock {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> entries;  // by entry, by key; an empty value: the entry does not set the key
};

struct SweepPlan {
  std::string name;
  std::string scenario;               // path of the file, or the name of a shipped one
  std::vector<std::string> settings;  // of all points
  std::vector<SweepBlock> blocks;
  std::vector<Condition> conditions;
  std::uint64_t seed = 1;
  SweepObjective objective = SweepObjective::kStepTime;

  [[nodiscard]] std::vector<std::string> keys() const;  // of all blocks, in order
  [[nodiscard]] std::size_t size() const;               // combinations
  [[nodiscard]] std::vector<KeyValue> values(std::size_t index) const;
};

[[nodiscard]] Result<SweepPlan> load_sweep(const std::string& path);
[[nodiscard]] Result<SweepPlan> load_sweep_text(const std::string& name, std::string_view text);

}  // namespace ringwright::planning
