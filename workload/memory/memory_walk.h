// The temporary memory of a stage: its schedule is traversed point by point, and the peak is recorded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "workload/layout/stage_chunks.h"
#include "workload/options/step_inputs.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Kinds of temporary memory, in report order.
enum class Held : std::uint8_t {
  kAccumulators,  // ZeRO stage 2: whole gradients of a chunk that are accumulated over microbatches
  kLayers,
  kEmbedding,
  kHead,
  kRecomputed,
  kGradients,  // of activations
  kGathered,   // sharded parameters while they are whole
  kUnreduced,  // gradients of sharded parameters until they are scattered
};
inline constexpr std::size_t kHeldKinds = 8;
[[nodiscard]] std::string_view to_string(Held kind);

struct HeldBytes {
  std::array<Bytes, kHeldKinds> of{};

  [[nodiscard]] Bytes& operator[](Held kind) { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes operator[](Held kind) const { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes total() const;
  void add(const HeldBytes& more);
};

struct MemoryWalk {
  HeldBytes peak;
  Bytes reserved;  // by the allocator in addition to the peak: blocks that fit nothing later
  Bytes on_host;   // offloaded activations at the peak
};

// Whether a pass holds the same in all microbatches, so that cycles of passes may be left out
// (pipeline/steady_passes.h).
[[nodiscard]] bool passes_repeat(const StepInputs& inputs);

[[nodiscard]] MemoryWalk walk_memory(const StepInputs& inputs, const std::vector<ModelChunk>& parts,
                                     const std::vector<Slot>& slots);

}  // namespace ringwright::workload
