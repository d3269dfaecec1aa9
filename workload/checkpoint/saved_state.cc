#include "workload/checkpoint/saved_state.h"

#include <algorithm>

#include "workload/layout/stage_chunks.h"
#include "workload/layout/stage_meshes.h"
#include "workload/memory/memory.h"

namespace ringwright::workload {
namespace {

// Of one parameter: the weight, and the state that the optimizer holds besides it.
struct SavedElement {
  double weight = 2.0;
  double state = 12.0;
};

SavedElement saved_element(const StepInputs& inputs) {
  const OptimizerTypes& types = inputs.training.optimizer;
  const double weight = bytes_per_element(inputs.training.precision);
  const bool mixed = inputs.training.precision != DataType::kFp32;
  if (inputs.parallel.sharding.parameters && inputs.parallel.sharding.master_in_shard) {
    return {.weight = 4.0, .state = types.moments()};
  }
  return {.weight = weight, .state = mixed ? types.saved_state() : types.moments()};
}

Bytes of_parameters(std::int64_t count, double bytes_each) {
  return scale(Bytes(1), static_cast<double>(count) * bytes_each);
}

// Of one stage, on ranks with this layout.
void add_stage(SavedState& state, const StepInputs& inputs, int stage) {
  const ParallelOptions& parallel = inputs.parallel;
  const SavedElement each = saved_element(inputs);
  const std::int64_t ranks = std::int64_t{1} * parallel.tp * parallel.cp * parallel.dp;
  const std::vector<ModelChunk> parts = stage_chunks(inputs.shape, parallel, stage);
  const std::int64_t experts = count_expert_elements(parts);
  const std::int64_t replicated = count_replicated(parts);
  const std::int64_t dense = count_elements(parts) - experts - replicated;
  const std::int64_t whole = dense * parallel.tp + replicated + experts * (ranks / parallel.expert_replicas());
  const Bytes bytes = of_parameters(whole, each.weight + each.state);
  state.parameters += whole;
  state.total += bytes;
  state.of_largest_rank = std::max(state.of_largest_rank, Bytes((bytes.count() + ranks - 1) / ranks));
  const std::int64_t held = parallel.sharding.parameters ? owned_parameters(parts, inputs) : count_elements(parts);
  const Bytes loaded = of_parameters(held, each.weight) + of_parameters(owned_parameters(parts, inputs), each.state);
  state.loaded_by_rank = std::max(state.loaded_by_rank, loaded);
}

}  // namespace

SavedState saved_state(const StepInputs& inputs) {
  SavedState state;
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    const ParallelOptions own = parallel_of_stage(inputs.parallel, stage);
    add_stage(state, {.shape = inputs.shape, .training = inputs.training, .parallel = own}, stage);
  }
  return state;
}

}  // namespace ringwright::workload
