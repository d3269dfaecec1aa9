#include "workload/memory/held_bytes.h"

namespace ringwright::workload {

std::string_view to_string(Held kind) {
  switch (kind) {
    case Held::kAccumulators: return "gradient accumulators";
    case Held::kLayers: return "layer activations";
    case Held::kEmbedding: return "embedding activations";
    case Held::kHead: return "logits";
    case Held::kRecomputed: return "recomputed layer";
    case Held::kGradients: return "activation gradients";
    case Held::kExchange: return "context-parallel buffers";
    case Held::kGathered: return "gathered parameters";
    case Held::kUnreduced: return "unreduced gradients";
  }
  return {};
}

Bytes HeldBytes::total() const {
  Bytes sum;
  for (const Bytes bytes : of) sum += bytes;
  return sum;
}

void HeldBytes::add(const HeldBytes& more, std::int64_t times) {
  for (std::size_t kind = 0; kind < kHeldKinds; ++kind) of[kind] += more.of[kind] * times;
}

}  // namespace ringwright::workload
