// Reads what happens to a job from a goodput file: components, times of recovery, spare hosts, checkpoints.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/config_map.h"
#include "planning/operation/operation.h"

namespace ringwright::planning {

// What the scenario says about the job, where the file names one; all zero otherwise.
struct ScenarioFacts {
  JobShape shape;    // without the step's time
  Bytes state;       // of a checkpoint, all ranks together
  Bytes rank_state;  // of the rank with most
  double usd_per_gpu_hour = 0.0;
  bool saves = false;  // has a checkpoint in every step
};

// Regimes that the scenario must be simulated in: settings by name of the component class, or of the checkpoint.
using RegimeSettings = std::map<std::string, std::vector<std::string>>;

struct OperationRead {
  Operation operation;  // intervals and times that need the step's time are not set
  RegimeSettings regimes;
};

[[nodiscard]] OperationRead read_operation(ConfigMap root, const ScenarioFacts& facts);
// In files of their own: components_reader.cc, checkpoint_reader.cc.
[[nodiscard]] std::vector<ComponentClass> read_components(ConfigMap root, const JobShape& job, RegimeSettings& regimes);
[[nodiscard]] std::vector<CheckpointTier> read_checkpoint(ConfigMap root, const ScenarioFacts& facts,
                                                          const JobShape& job, RegimeSettings& regimes);
// The name of the regime in which a tier's checkpoint is simulated.
[[nodiscard]] std::string regime_of(const CheckpointTier& tier);

// Once the step's time is known: intervals in steps, at least as long as writing takes (W400 where that changes one).
void set_intervals(Operation& operation, ConfigMap root);
// The interval of a tier in steps for a time between checkpoints.
[[nodiscard]] std::int64_t steps_of_interval(const Operation& operation, const CheckpointTier& tier, double seconds);
// Refuses lives with more faults than can be simulated (E404).
void check_size(const Operation& operation, ConfigMap root);

}  // namespace ringwright::planning
