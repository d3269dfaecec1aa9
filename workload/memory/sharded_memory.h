// What a stage with sharded parameters holds in addition: gathered parameters, and gradients that wait to be scattered;
// of the current unit in the type of its computation, and those being reduced in the reduction's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "workload/layout/stage_chunks.h"
#include "workload/options/step_inputs.h"
#include "workload/parallel/gather_schedule.h"
#include "workload/parallel/shard_units.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// What it holds at a point.
struct GatheredBytes {
  Bytes gathered;
  Bytes unreduced;
};

class ShardedMemory {
 public:
  // The passes `slots` are entered in their order. `cycles`: where equal cycles of passes begin, and the last one ends;
  // GatherSchedule::repeats. `units`, those of the chunks with these options, outlives it.
  ShardedMemory(const StepInputs& inputs, const ShardUnits& units, const ShardingOptions& options,
                const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots,
                const std::vector<std::size_t>& cycles);

  // Adds what is held at the next point.
  void enter(int chunk, std::size_t point, GatheredBytes& held);
  void end_pass() { new_pass_ = true; }
  [[nodiscard]] bool repeats() const { return schedule_.repeats(); }

 private:
  void enter_tiles(std::size_t point, GatheredBytes& held);
  // The gradients of a unit that are being reduced, with those of the bucket, and of one that is being computed.
  struct Gradients {
    Bytes reduced;
    Bytes computed;
  };

  const ShardUnits& units_;
  GatherSchedule schedule_;
  double element_;                    // bytes of one of the working type
  std::vector<Gradients> gradients_;  // by unit
  std::size_t use_ = 0;
  bool started_ = false;
  bool new_pass_ = false;
};

}  // namespace ringwright::workload
