// Plans of a pipeline whose stages have tensor and data parallelism of their own, by Alpa's dynamic program
// (planning/stages/stage_plans.h).
//
// What Alpa derives with a compiler follows here from the modelled layers: on a mesh of tp x dp ranks a stage takes,
// for a microbatch of s sequences, what its layers take for s / dp sequences on tp ranks. As Alpa does (section 5.2),
// layers are clustered, and meshes have powers of two of devices.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/units.h"
#include "workload/options/layer_balance.h"
#include "workload/options/training_options.h"

namespace ringwright::planning {

// Of layers on tp ranks, for so many sequences in a microbatch of a replica.
struct MeshCosts {
  workload::LayerCosts seconds;  // forward and backward, exposed communication of tensor parallelism included
  Bytes state;                   // of a layer on one rank: weights, gradients, and what replicas do not share
  Bytes shared_state;            // of a layer: what replicas divide among each other (ZeRO)
  Bytes activations;             // of a layer and a microbatch
};

struct MeshProblem {
  std::int64_t layers = 1;
  std::int64_t ranks = 1;
  std::int64_t global_batch = 1;  // sequences
  std::int64_t micro_batch = 1;   // sequences, of the stage with the most replicas
  std::vector<std::int64_t> tensor_sizes;
  Bytes memory;  // of a rank, for the model's state and activations
};

struct MeshPlan {
  std::vector<workload::StageMesh> stages;
  double seconds = 0.0;  // of a step, without what happens once in it
};

// Null: such ranks cannot be used. A pointer is valid until the plans are made.
using CostsOf = std::function<const MeshCosts*(std::int64_t tp, std::int64_t sequences)>;

// The best plan for each number of replicas of the widest stage and each number of microbatches that a stage may hold
// at once (1, 2, 4, ...), which decides what fits; the fastest first, each once. Whether a plan really fits is up to
// the memory ledger.
[[nodiscard]] std::vector<MeshPlan> mesh_plans(const MeshProblem& problem, const CostsOf& costs_of);

// "[{layers: 8, tp: 2, dp: 2}, {layers: 16, tp: 4, dp: 1}]", as parallel.stages has it.
[[nodiscard]] std::string to_setting(const std::vector<workload::StageMesh>& stages);

}  // namespace ringwright::planning
