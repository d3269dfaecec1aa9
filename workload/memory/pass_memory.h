// What the passes of a stage hold, each from what is held at its beginning.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "workload/layout/stage_chunks.h"
#include "workload/memory/held_bytes.h"
#include "workload/memory/kept_layers.h"
#include "workload/memory/known_memory.h"
#include "workload/memory/sharded_memory.h"
#include "workload/options/step_inputs.h"
#include "workload/parallel/shard_units.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// What one pass through a chunk adds to what is held at its beginning.
struct PassMemory {
  HeldBytes after;             // at its end
  Bytes added;                 // the same in all
  HeldBytes peak;              // at the first of the points at which the total is largest
  std::optional<Bytes> total;  // there; none: a chunk without points
  Bytes reserved;              // the largest total, with blocks of the allocator that fit nothing later
};

// What all passes through points of one kind hold.
class PointSizes {
 public:
  explicit PointSizes(const KernelContext& context);
  [[nodiscard]] Bytes embedding() const { return embedding_; }
  [[nodiscard]] Bytes predictor() const { return predictor_; }
  [[nodiscard]] Bytes head() const { return head_; }
  // Gradients of activations.
  [[nodiscard]] Bytes workspace_of(const LayerHalves& halves);
  // Buffers of context parallelism.
  [[nodiscard]] Bytes exchange_of(const LayerHalves& halves, Pass pass);

 private:
  using ByHalves = std::array<std::optional<Bytes>, 12>;  // by kinds of both halves of a layer
  [[nodiscard]] static std::optional<Bytes>& at(ByHalves& known, const LayerHalves& halves);

  const KernelContext& context_;
  Bytes embedding_;
  Bytes predictor_;
  Bytes head_;
  ByHalves workspaces_;
  ByHalves exchanges_;  // of backward passes
  ByHalves forward_exchanges_;
};

// Members refer to each other: not movable.
class PassWalker {
 public:
  // Of passes that hold the same in all microbatches, or of a stage's passes once they have begun. `units`: those of
  // the chunks.
  PassWalker(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<StageUnits>& units);
  // A stage's passes in this order, with what is gathered and on the host; `cycles`: see GatherSchedule. What is known
  // of gathers outlives the passes.
  void begin(KnownGathers& gathers, const std::vector<Slot>& slots, const std::vector<std::size_t>& cycles = {});
  PassWalker(const PassWalker&) = delete;
  PassWalker& operator=(const PassWalker&) = delete;

  // By kind: chunk and pass.
  [[nodiscard]] std::size_t kinds() const { return known_.size(); }
  [[nodiscard]] static std::size_t kind_of(const Slot& slot) {
    return kPasses * static_cast<std::size_t>(slot.chunk) + static_cast<std::size_t>(slot.pass);
  }
  // The next pass.
  const PassMemory& next(const Slot& slot);
  [[nodiscard]] Bytes most_on_host() const { return most_on_host_; }
  // Whether what is gathered was seen to repeat itself with the cycles.
  [[nodiscard]] bool gathers_repeat() const;

 private:
  static constexpr std::size_t kPasses = 4;  // kinds

  // What a pass holds at one of its points, without what is gathered.
  struct AtPoint {
    std::size_t point = 0;
    HeldBytes held;
    Bytes total;
    Bytes cached;  // by the allocator in addition
  };
  // The last pass of a kind.
  struct Known {
    bool walked = false;
    std::vector<AtPoint> points;  // in its order
    PassMemory pass;
    void hold(Held kind, Bytes bytes) {
      pass.after[kind] += bytes;
      pass.added += bytes;
    }
  };
  void keep(Known& walk, int chunk, std::size_t point, std::int64_t sign);
  void keep_recomputed(Known& walk, int chunk, std::size_t point, std::int64_t sign) const;
  [[nodiscard]] bool waits_elsewhere(const ModelChunk& part, std::size_t point) const;
  void forward(Known& walk, const Slot& slot);
  void backward(Known& walk, const Slot& slot);
  void hold_workspace(HeldBytes& more, const LayerHalves& halves);
  void look(Known& walk, const Slot& slot, std::size_t point, Pass pass);
  void find_peak(Known& walked, int chunk);
  [[nodiscard]] const ModelChunk& part_of(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] const KeptLayers& layers_of(int chunk) const { return layers_[static_cast<std::size_t>(chunk)]; }

  const StepInputs& inputs_;
  const std::vector<ModelChunk>& parts_;
  KernelContext context_;
  std::ptrdiff_t offloaded_layers_;
  std::vector<KeptLayers> layers_;  // by chunk
  PointSizes sizes_;
  const std::vector<StageUnits>& units_;
  std::vector<ShardedMemory> gathered_;  // of these, by the stage's passes
  Bytes on_host_;
  Bytes most_on_host_;
  std::vector<Known> known_;  // by kind
};

}  // namespace ringwright::workload
