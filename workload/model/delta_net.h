// Gated DeltaNet layers (Yang, Kautz and Hatamizadeh, arXiv 2412.06464): linear attention whose state of keys x values
// is decayed and corrected by the delta rule at each token.
//
// Symbols: Hk heads of queries and keys of size dk, H heads of values of size dv, each with a state of dk x dv; C
// tokens of a chunk, which is 64 in flash-linear-attention.
#pragma once

#include <cstdint>

namespace ringwright::workload {

struct DeltaNetShape {
  static constexpr std::int64_t kChunk = 64;

  std::int64_t key_heads = 16;
  std::int64_t value_heads = 32;
  std::int64_t key_size = 128;
  std::int64_t value_size = 128;
  std::int64_t kernel = 4;      // tokens of the convolution
  std::int64_t full_every = 0;  // every n-th layer has attention instead; 0: layers are those of a hybrid model

  [[nodiscard]] std::int64_t keys() const { return key_heads * key_size; }
  [[nodiscard]] std::int64_t values() const { return value_heads * value_size; }
  // Queries, keys and values.
  [[nodiscard]] std::int64_t convolved() const { return 2 * keys() + values(); }
  // Columns of the first GEMM: those, a gate for each value, and of each head the delta rule's rate and its decay.
  [[nodiscard]] std::int64_t projected() const { return convolved() + values() + 2 * value_heads; }

  friend bool operator==(const DeltaNetShape&, const DeltaNetShape&) = default;
};

}  // namespace ringwright::workload
