// The block `search` of a scenario: the layouts to search, and what best means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

enum class Objective { kStepTime, kTokensPerSecond, kModelFlopUtilisation, kMemory };
[[nodiscard]] std::string_view to_string(Objective objective);

// One setting that is varied, and its values in the order in which they are tried.
struct SearchAxis {
  std::string name;  // "tp", or a key of the scenario: "parallel.zero.bucket"
  std::vector<std::string> values;
};

// Whether layouts that can be on no table are left without a prediction. By number: where there are many, and only
// tables are asked for.
enum class SkipSlower { kByNumber, kNever, kAlways };

struct SearchSettings {
  std::vector<SearchAxis> given;  // those that the user set or added
  Objective objective = Objective::kStepTime;
  Bytes max_memory;  // of a GPU; 0: all it has
  SkipSlower skip_slower = SkipSlower::kByNumber;
  int top = 10;      // configurations shown
  int replay = 10;   // of the best, simulated again with the scenario's own models
};

// An axis as `--vary` and `--fix` may name it: with or without the map it belongs to ("tp", "parallel.tp"). Empty for
// any other name.
[[nodiscard]] std::string axis_of(std::string_view key);

// Why this key of the scenario cannot be varied; empty when it can.
[[nodiscard]] std::string why_not_varied(std::string_view key);

[[nodiscard]] SearchSettings read_search(ConfigMap root);

}  // namespace ringwright::configs
