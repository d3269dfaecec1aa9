// Reading of `parallel.zero.tiled_linear`.
#include "workload/options/linear_tiling.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

constexpr std::string_view kTiledLinear = "tiled_linear";

// A weight of inputs x outputs values.
struct CutOperator {
  std::string_view name;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
};

std::array<CutOperator, kTiledOperators.size()> operators_of(const ModelShape& shape) {
  const std::int64_t query = shape.heads * shape.head_size;
  const std::int64_t gates = shape.activation == Activation::kSwiGlu ? 2 : 1;
  return {{{kTiledOperators[0], shape.hidden, query + 2 * shape.kv_heads * shape.head_size},
           {kTiledOperators[1], query, shape.hidden},
           {kTiledOperators[2], shape.hidden, gates * shape.ffn},
           {kTiledOperators[3], shape.ffn, shape.hidden}}};
}

// What the simulation of tiles leaves out; empty: nothing of this job.
std::string_view left_out_for_tiles(const ParallelContext& context, const ParallelOptions& options) {
  const TrainingOptions& training = context.training;
  if (options.zero_stage != 3) return "only zero.stage 3 gathers and releases parameters";
  if (options.tp > 1) return "tiles replace tensor parallelism: parallel.tp must be 1";
  if (options.pp > 1) return "DeepSpeed's pipelines have no stage 3: parallel.pp must be 1";
  if (context.shape.latent) return "latent attention has other linear operators";
  if (context.shape.adapters) return "weights with low-rank adapters are frozen";
  if (training.separate_projections) return "queries, keys and values must be one weight";
  if (training.gemm_type() != training.precision) return "its GEMMs have the type of training.precision";
  if (training.recompute == Recompute::kOperators || training.recompute == Recompute::kExceptSaved) {
    return "training.recompute must be none, selective or full";
  }
  return {};
}

// False after an error: a dimension is not a multiple of its splits.
bool tiles_divide(ConfigMap& map, const LinearTiling& tiling, const ModelShape& shape) {
  for (const CutOperator& one : operators_of(shape)) {
    const std::int64_t side = tiling.side;
    const std::int64_t inputs = side > 0 ? side : tiling.in_splits;
    const std::int64_t outputs = side > 0 ? side : tiling.out_splits;
    const bool in_fits = one.inputs % inputs == 0;
    if (in_fits && one.outputs % outputs == 0) continue;
    const std::string_view key = side > 0 ? "tile_factor" : in_fits ? "out_splits" : "in_splits";
    const std::string size = side > 0 ? fmt::format("tiles of {} x {}", side, side)
                                      : fmt::format("{} = {}", map.path_of(key), in_fits ? outputs : inputs);
    map.error(key, "E140",
              fmt::format("{} {} not divide the {} inputs and {} outputs of '{}'", size, side > 0 ? "do" : "does",
                          one.inputs, one.outputs, one.name));
    return false;
  }
  return true;
}

std::int64_t splits(ConfigMap& map, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return map.integer({.name = name, .doc = doc, .fallback = fallback, .min = fallback, .max = 64});
}

LinearTiling read_grid(ConfigMap& map, const ModelShape& shape) {
  LinearTiling tiling{.in_splits = splits(map, "in_splits", "tiles along the inputs of each linear operator", 1),
                      .out_splits = splits(map, "out_splits", "tiles along its outputs", 1)};
  const std::int64_t factor =
      splits(map, "tile_factor",
             "instead, as Megatron-DeepSpeed: all tiles are squares of hidden_size / tile_factor; 0: not given", 0);
  if (factor == 0) return tiling;
  for (const std::string_view key : {"in_splits", "out_splits"}) {
    if (!map.has(key)) continue;
    map.error("tile_factor", "E141",
              fmt::format("{} and {} ({}) contradict each other", map.path_of("tile_factor"), map.path_of(key),
                          map.origin(key)),
              "remove one of them");
    return {};
  }
  if (shape.hidden % factor != 0) {
    map.error(
        "tile_factor", "E140",
        fmt::format("{} = {} does not divide the hidden size {}", map.path_of("tile_factor"), factor, shape.hidden));
    return {};
  }
  tiling.side = shape.hidden / factor;
  return tiling;
}

}  // namespace

bool is_tiled_operator(std::string_view weight) {
  return std::ranges::find(kTiledOperators, weight) != kTiledOperators.end();
}

LinearTiling read_linear_tiling(ConfigMap& zero, const ParallelContext& context, const ParallelOptions& options) {
  if (!zero.has(kTiledLinear) && !zero.documenting()) return {};
  ConfigMap map = zero.map(kTiledLinear,
                           "stage 3: linear operators are grids of tiles that are gathered, used and released one "
                           "after another (ZeRO-Infinity's memory-centric tiling, deepspeed.zero.TiledLinear)");
  const LinearTiling tiling = read_grid(map, context.shape);
  if (!tiling.on() || !tiles_divide(map, tiling, context.shape)) return {};
  const std::string_view reason = left_out_for_tiles(context, options);
  if (reason.empty()) return tiling;
  zero.error(kTiledLinear, "E140", fmt::format("{}: {}", zero.path_of(kTiledLinear), reason));
  return {};
}

}  // namespace ringwright::workload
