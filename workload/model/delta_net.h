// Gated DeltaNet layers (Yang, Kautz and Hatamizadeh, arXiv 2412.06464): linear attention whose state of keys x values
// is decayed and corrected by the delta rule at each token.
//
// Symbols: Hk heads of queries and keys of size dk, H heads of values of size dv, each with a state of dk x dv; C
// tokens of a chunk, which is 64 in flash-linear-attention.
//
// Kimi Delta Attention (Kimi Linear, arXiv 2510.26692) decays each channel of a key on its own. Its decays and output
// gates come from the token by two narrow GEMMs each, or by one (Megatron-LM, ssm/gated_delta_net/kda.py).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ringwright::workload {

struct ChannelDecay {
  std::int64_t decay_rank = 0;  // width between both GEMMs of the decays; 0: one GEMM
  std::int64_t gate_rank = 0;   // the same of the output gates

  friend bool operator==(const ChannelDecay&, const ChannelDecay&) = default;
};

struct DeltaNetShape {
  static constexpr std::int64_t kChunk = 64;

  std::int64_t key_heads = 16;
  std::int64_t value_heads = 32;
  std::int64_t key_size = 128;
  std::int64_t value_size = 128;
  std::int64_t kernel = 4;      // tokens of the convolution
  std::int64_t full_every = 0;  // every n-th layer has attention instead; 0: `full_layers`, or a hybrid model's order
  std::vector<std::int64_t> full_layers;  // have attention, counted from 0, in order
  std::optional<ChannelDecay> channels;

  [[nodiscard]] std::int64_t keys() const { return key_heads * key_size; }
  [[nodiscard]] std::int64_t values() const { return value_heads * value_size; }
  // Queries, keys and values.
  [[nodiscard]] std::int64_t convolved() const { return 2 * keys() + values(); }
  // Those, a gate for each value, of each head the delta rule's rate, and its decay or one for each channel.
  [[nodiscard]] std::int64_t projected() const { return convolved() + values() + value_heads + decays(); }
  [[nodiscard]] std::int64_t decays() const { return channels ? keys() : value_heads; }
  // Columns of the first GEMM; with narrow GEMMs for decays or gates it has neither.
  [[nodiscard]] std::int64_t first_columns() const {
    if (!channels) return projected();
    return has_narrow_gemms() ? convolved() : convolved() + values() + keys();
  }
  [[nodiscard]] bool has_narrow_gemms() const {
    return channels && (channels->decay_rank > 0 || channels->gate_rank > 0);
  }

  friend bool operator==(const DeltaNetShape&, const DeltaNetShape&) = default;
};

}  // namespace ringwright::workload
