// What a stage with sharded parameters holds in addition: gathered parameters, and gradients that wait to be scattered;
// of the current unit in the type of its computation, and those being reduced in the reduction's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // The passes of the schedule, that of the units, are entered in their order. Both outlive it.
  ShardedMemory(const StepInputs& inputs, const ShardUnits& units, const GatherSchedule& schedule);

  // Adds what is held at the next point.
  void enter(int chunk, std::size_t point, GatheredBytes& held);
  // Of a kind of passes, which all go through the same units.
  void end_pass(std::size_t kind);
  // Whether the next pass, of this kind, holds the same at each point as the last one of its kind, which was entered.
  [[nodiscard]] bool next_repeats(std::size_t kind) const;
  void skip_pass(std::size_t kind);
  [[nodiscard]] bool repeats() const { return schedule_.repeats(); }

 private:
  void enter_tiles(std::size_t point, GatheredBytes& held);
  [[nodiscard]] Bytes gathered_at(std::size_t use) const;
  // The gradients of a unit that are being reduced, with those of the bucket, and of one that is being computed.
  struct Gradients {
    Bytes reduced;
    Bytes computed;
  };

  // Bytes of one of the working type, and those that one of a matrix saves which is gathered in a narrow type.
  struct Element {
    double bytes = 0.0;
    double saved = 0.0;
  };

  // Gradients of a unit that this pass has computed before the unit's last use.
  struct Waiting {
    std::size_t unit = 0;
    Bytes bytes;
  };

  // The uses of a pass.
  struct Entered {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] std::size_t next_use() const { return started_ ? use_ + 1 : 0; }

  const ShardUnits& units_;
  const GatherSchedule& schedule_;
  Element element_;
  std::vector<Gradients> gradients_;             // by unit
  Bytes bucket_;                                 // of other units' gradients
  std::vector<std::optional<Entered>> entered_;  // by kind of passes: the last one
  std::size_t use_ = 0;
  std::size_t before_pass_ = 0;  // the first use of the current pass
  bool started_ = false;
  bool new_pass_ = false;
  Bytes live_;  // of the current use
  Waiting waiting_;
};

}  // namespace ringwright::workload
