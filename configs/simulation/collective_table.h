// The algorithms chosen for the collective calls of a training step, and their times.
#pragma once

#include <string>
#include <vector>

#include "configs/simulation/simulation.h"
#include "core/record/run_record.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// One row for each dimension, operation, size, number of ranks and hosts, and choice; by dimension, most bytes first.
[[nodiscard]] std::vector<CollectiveUse> collective_table(const Simulation& simulation, const RunRecord& record);

// What carries out a call: the algorithm of steps or formulas, but under the kernels' name where steps of another one
// stand in for theirs; protocol and channels of the kernels, empty and 0 where they do not count.
struct PlayedChoice {
  std::string algorithm;
  std::string protocol;
  int channels = 0;
};
[[nodiscard]] PlayedChoice played_choice(const Simulation& simulation, const CollectiveCall& call);

}  // namespace ringwright::configs
