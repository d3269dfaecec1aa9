// Temporary memory of a stage by kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/units.h"

namespace ringwright::workload {

// Kinds of temporary memory, in report order.
enum class Held : std::uint8_t {
  kAccumulators,  // ZeRO stage 2: whole gradients of a chunk that are accumulated over microbatches
  kLayers,
  kEmbedding,
  kHead,
  kRecomputed,
  kGradients,  // of activations
  kExchange,   // buffers of context parallelism while attention runs
  kGathered,   // sharded parameters while they are whole
  kUnreduced,  // gradients of sharded parameters until they are scattered
};
inline constexpr std::size_t kHeldKinds = 9;
[[nodiscard]] std::string_view to_string(Held kind);

struct HeldBytes {
  std::array<Bytes, kHeldKinds> of{};

  [[nodiscard]] Bytes& operator[](Held kind) { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes operator[](Held kind) const { return of[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes total() const;
  void add(const HeldBytes& more) {
    for (std::size_t kind = 0; kind < kHeldKinds; ++kind) of[kind] += more.of[kind];
  }
  void add(const HeldBytes& more, std::int64_t times);
};

}  // namespace ringwright::workload
