// Memory-centric tiling: a linear operator is a grid of smaller ones, whose parameters are gathered, used and released
// one after another.
//
// Rajbhandari et al., ZeRO-Infinity, arXiv 2104.07857, section 5.1.3: an operator that maps h to 4 h values needs
// 4 h 4h bytes for its fp16 parameters and gradients, and with n tiles an n-th of that. DeepSpeed cuts with
// deepspeed.zero.TiledLinear (runtime/zero/tiling.py), a grid of in_splits x out_splits; Megatron-DeepSpeed's
// tile_factor f makes all tiles squares of h / f. Cut are the linear operators of attention and of dense MLPs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config/config_map.h"

namespace ringwright::workload {

struct TileGrid {
  std::int64_t inputs = 1;
  std::int64_t outputs = 1;

  [[nodiscard]] std::int64_t count() const { return inputs * outputs; }
};

struct LinearTiling {
  std::int64_t in_splits = 1;
  std::int64_t out_splits = 1;
  std::int64_t side = 0;  // of square tiles; 0: splits are given

  [[nodiscard]] bool on() const { return side > 0 || in_splits > 1 || out_splits > 1; }
  [[nodiscard]] TileGrid grid(std::int64_t inputs, std::int64_t outputs) const {
    return side > 0 ? TileGrid{inputs / side, outputs / side} : TileGrid{in_splits, out_splits};
  }
  // Of an operator with so many weights.
  [[nodiscard]] std::int64_t tiles(std::int64_t weights) const {
    return side > 0 ? weights / (side * side) : in_splits * out_splits;
  }
  friend bool operator==(const LinearTiling&, const LinearTiling&) = default;
};

// The operators that are cut: the names of their weights, with which the names of their GEMMs begin.
inline constexpr std::array<std::string_view, 4> kTiledOperators{"qkv", "attention projection", "mlp up", "mlp down"};
[[nodiscard]] bool is_tiled_operator(std::string_view weight);

struct ParallelContext;
struct ParallelOptions;

// `parallel.zero.tiled_linear`. Mistakes are recorded in the map; off then, and without the key.
[[nodiscard]] LinearTiling read_linear_tiling(ConfigMap& zero, const ParallelContext& context,
                                              const ParallelOptions& options);

}  // namespace ringwright::workload
