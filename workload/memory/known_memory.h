// What the memory of one layout finds and others of the same model with the same order of passes need again: contents
// of stages, schedules of gathers, and what stages hold at their peaks. Each depends on its key alone, so that a layout
// is measured the same with and without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "workload/kernels/layer_kernels.h"
#include "workload/layout/last_order.h"
#include "workload/layout/stage_chunks.h"
#include "workload/layout/values_by_key.h"
#include "workload/memory/held_bytes.h"
#include "workload/options/step_inputs.h"
#include "workload/parallel/gather_schedule.h"
#include "workload/parallel/shard_units.h"

namespace ringwright::workload {

// The temporary memory of a stage.
struct MemoryWalk {
  HeldBytes peak;
  Bytes reserved;  // by the allocator in addition to the peak: blocks that fit nothing later
  Bytes on_host;   // offloaded activations at the peak
};

// What a stage holds of the model.
struct StageContents {
  std::vector<ModelChunk> parts;
  std::vector<StageUnits> units;  // of these
};
[[nodiscard]] StageContents stage_contents(const StepInputs& inputs, int stage);

class KnownGathers {
 public:
  // The passes of a stage.
  struct Passes {
    const std::vector<ModelChunk>& parts;
    const TrainingOptions& training;
    const std::vector<Slot>& slots;
    const std::vector<std::size_t>& cycles;  // as of GatherSchedule
  };
  // Holds until all are forgotten.
  [[nodiscard]] const GatherSchedule& of(const StageUnits& stage, const Passes& passes);
  void forget() { known_.clear(); }

 private:
  std::map<std::vector<std::int64_t>, GatherSchedule> known_;  // by all that a schedule depends on
};

// Of one thread. Of each order only what the layouts since the last other order have found.
class KnownMemory {
 public:
  explicit KnownMemory(LastOrder& order) : order_(order) {}

  // Before anything is asked of a layout.
  void begin(const StepInputs& inputs);
  [[nodiscard]] LastOrder& order() { return order_; }
  [[nodiscard]] KnownGathers& gathers() { return gathers_; }
  [[nodiscard]] const StageContents& contents(const StepInputs& inputs, int stage);
  // By stage, of layouts whose passes hold the same in all microbatches; empty: of a new one.
  [[nodiscard]] std::vector<MemoryWalk>& walks(const StepInputs& inputs);

 private:
  // All that a stage's contents follow from, besides model and order.
  struct ContentsKey {
    int stage = 0;
    int tp = 1;
    int ep = 1;
    int etp = 1;
    int expert_replicas = 1;
    ShardingOptions sharding;
    std::vector<std::int64_t> layers_per_part;
    friend bool operator==(const ContentsKey&, const ContentsKey&) = default;
  };
  // All that passes hold follows from these and the order.
  struct WalkKey {
    KernelContext context;
    std::vector<std::int64_t> layers_per_part;
    friend bool operator==(const WalkKey&, const WalkKey&) = default;
  };

  LastOrder& order_;
  std::optional<OrderKey> key_;  // none: of a listed order
  KnownGathers gathers_;
  ValuesByKey<ContentsKey, std::unique_ptr<StageContents>> contents_;
  ValuesByKey<WalkKey, std::vector<MemoryWalk>> walks_;
};

}  // namespace ringwright::workload
