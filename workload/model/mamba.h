// State-space layers of hybrid models, Mamba-2 (Dao and Gu, arXiv 2405.21060), and the order of such a model's layers.
//
// A layer of a hybrid model is half of a transformer's: a mixer (attention, Mamba-2, Gated DeltaNet) or an MLP (dense
// or of experts), with a norm and a residual of its own. Symbols: H heads of P channels, G groups that share their B
// and C vectors, N the size of a channel's state, Q tokens of a chunk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringwright::workload {

struct MambaShape {
  std::int64_t heads = 1;
  std::int64_t head_size = 64;
  std::int64_t groups = 8;
  std::int64_t state = 128;
  std::int64_t chunk = 128;
  std::int64_t kernel = 4;  // tokens of the convolution

  [[nodiscard]] std::int64_t inner() const { return heads * head_size; }
  // Channels of the convolution: x, B, C.
  [[nodiscard]] std::int64_t convolved() const { return inner() + 2 * groups * state; }
  // Columns of the first GEMM: z, x, B, C, and a time step for each head.
  [[nodiscard]] std::int64_t projected() const { return inner() + convolved() + heads; }

  friend bool operator==(const MambaShape&, const MambaShape&) = default;
};

enum class Mixer { kAttention, kMamba, kDeltaNet, kNone };
enum class MlpKind { kDense, kExperts, kNone };
struct LayerHalves {
  Mixer mixer = Mixer::kAttention;
  MlpKind mlp = MlpKind::kDense;
};

// By letter of Megatron's hybrid_override_pattern: M Mamba-2, G Gated DeltaNet, * attention, - MLP, E experts; none for
// other letters.
[[nodiscard]] std::optional<LayerHalves> halves_of_letter(char letter);
// A mixer followed by an MLP cost what a transformer's layer does: "*E", "M-"; or one letter. None for other letters.
[[nodiscard]] std::optional<LayerHalves> halves_of_predictor(std::string_view letters);

struct HybridShape {
  std::string order;      // a letter for each layer
  std::string predictor;  // letters of a layer of multi-token prediction: a mixer, an MLP, or both in this order
  MambaShape mamba;

  friend bool operator==(const HybridShape&, const HybridShape&) = default;
};

}  // namespace ringwright::workload
