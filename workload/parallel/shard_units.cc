#include "workload/parallel/shard_units.h"

#include <algorithm>
#include <numeric>

namespace ringwright::workload {
namespace {

bool is_end(PointKind kind) {
  return kind == PointKind::kEmbedding || kind == PointKind::kHead;
}

// The first point of a unit: a layer begins with its attention, unless a predictor precedes it.
bool begins_unit(const ModelChunk& part, std::size_t point) {
  if (ends_layer(part.points[point])) return false;
  return point == 0 || part.points[point - 1] != PointKind::kPredictor;
}

// Of an embedding and an output layer: the root of FSDP; with the same weights torchtitan's group of both, or what
// ZeRO-3 gathers for the module that contains both, once a pass (external parameters in partition_parameters.py).
ShardUnit root_unit(const ShardingOptions& options) {
  return {.kept = options.root_unit || options.keep_head || !options.reshard_after_forward};
}

bool is_cut(const ParameterTensor& tensor, UnitsOf of, const LinearTiling& tiling) {
  return tiling.on() && of != UnitsOf::kExperts && is_tiled_operator(tensor.name);
}

// `sharded`: tensors that are gathered, in their order; those that are cut are not among them.
void add_tensors(const ModelChunk& part, std::size_t point, UnitsOf of, const ShardingOptions& options, ShardUnit& unit,
                 std::vector<std::int64_t>& sharded) {
  const PointTensors::List& tensors = part.tensors[point];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ParameterTensor& tensor = tensors[i];
    if (is_cut(tensor, of, options.tiling)) continue;
    if (of != UnitsOf::kAll && tensor.expert != (of == UnitsOf::kExperts)) continue;
    unit.elements += tensor.elements;
    if (part.tensors.is_matrix(point, i)) {
      unit.matrices += tensor.elements;
      ++unit.matrix_count;
    }
    if (!tensor.frozen) unit.gradients += tensor.elements;
    if (tensor.elements < options.persistence_threshold) continue;
    unit.sharded += tensor.elements;
    sharded.push_back(tensor.elements);
  }
}

// Elements that are gathered twice in a backward pass, for recomputation and again for the gradients. DeepSpeed's hooks
// are those of single modules, here of tensors: one is released after its recomputation unless it is used again within
// max_reuse_distance elements, and between its two uses are all later ones, twice (stage3.py,
// partitioned_param_coordinator.py: __params_to_release).
std::vector<std::int64_t> regathered_of(const std::vector<std::int64_t>& tensors, std::int64_t max_reuse_distance) {
  std::vector<std::int64_t> regathered;
  std::int64_t later = 0;
  for (std::size_t i = tensors.size(); i-- > 0;) {
    if (2 * later >= max_reuse_distance) regathered.push_back(tensors[i]);
    later += tensors[i];
  }
  return regathered;
}

std::int64_t sum_of(const std::vector<std::int64_t>& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
}

std::int64_t padded(std::int64_t elements, int shard) {
  return (elements + shard - 1) / shard * shard;
}

std::vector<std::int64_t> calls_of(std::vector<std::int64_t> tensors, const ShardingOptions& options) {
  if (options.gather_calls == GatherCalls::kLayers && !tensors.empty()) tensors = {sum_of(tensors)};
  for (std::int64_t& elements : tensors) elements = padded(elements, options.shard);
  return tensors;
}

}  // namespace

ShardUnits::ShardUnits(const std::vector<ModelChunk>& parts, const ShardingOptions& options, UnitsOf of) {
  std::vector<std::vector<std::int64_t>> of_layers;  // sharded tensors, by unit; ends are not recomputed
  std::vector<std::vector<std::int64_t>> of_ends;
  for (const ModelChunk& part : parts) {
    std::vector<std::size_t>& unit_at = unit_at_.emplace_back();
    std::size_t root = units_.size();
    const bool has_root = part.shares_output || (options.root_unit && (part.embedding || part.head));
    if (has_root) units_.push_back(root_unit(options));
    std::vector<std::int64_t>& gradients_at = gradients_at_.emplace_back();
    for (std::size_t point = 0; point < part.points.size(); ++point) {
      const PointKind kind = part.points[point];
      if (is_end(kind) && has_root) {
        unit_at.push_back(root);
      } else {
        if (begins_unit(part, point)) {
          const bool kept = !options.reshard_after_forward || (kind == PointKind::kHead && options.keep_head);
          units_.push_back({.kept = kept});
        }
        unit_at.push_back(units_.size() - 1);
      }
      ShardUnit& unit = units_[unit_at.back()];
      const std::int64_t before = unit.gradients;
      of_layers.resize(units_.size());
      of_ends.resize(units_.size());
      add_tensors(part, point, of, options, unit, (is_end(kind) ? of_ends : of_layers)[unit_at.back()]);
      // An output layer with the embedding's weights computes their gradient as well.
      const bool shared = kind == PointKind::kHead && part.shares_output;
      gradients_at.push_back(unit.gradients - (shared ? 0 : before));
    }
  }
  const std::size_t layers = units_.size();
  for (std::size_t i = 0; i < layers; ++i) {
    ShardUnit& unit = units_[i];
    std::vector<std::int64_t> tensors = of_layers[i];
    tensors.insert(tensors.end(), of_ends[i].begin(), of_ends[i].end());
    unit.tensors = tensors.size();
    unit.calls = calls_of(tensors, options);
    unit.padded = sum_of(unit.calls);
    unit.padded_gradients = padded(unit.gradients, options.shard);
    if (!options.regathers) continue;
    unit.calls_again = calls_of(regathered_of(of_layers[i], options.max_reuse_distance), options);
    unit.regathered = sum_of(unit.calls_again);
  }
  add_tiles(parts, options, of);
}

// Of the tensors of a point one after another, as its operators are.
void ShardUnits::add_tiles(const std::vector<ModelChunk>& parts, const ShardingOptions& options, UnitsOf of) {
  for (const ModelChunk& part : parts) {
    std::vector<std::vector<std::size_t>>& of_points = tiles_at_.emplace_back(part.points.size());
    for (std::size_t point = 0; point < part.points.size(); ++point) {
      for (const ParameterTensor& tensor : part.tensors[point]) {
        if (!is_cut(tensor, of, options.tiling)) continue;
        has_tiles_ = true;
        const std::int64_t count = options.tiling.tiles(tensor.elements);
        ShardUnit tile{.elements = tensor.elements / count, .tile = true};
        tile.gradients = tile.elements;
        tile.sharded = tile.elements < options.persistence_threshold ? 0 : tile.elements;
        tile.tensors = 1;
        if (tile.sharded > 0) tile.calls = {padded(tile.sharded, options.shard)};
        tile.padded = sum_of(tile.calls);
        tile.padded_gradients = padded(tile.gradients, options.shard);
        for (std::int64_t number = 0; number < count; ++number) {
          of_points[point].push_back(units_.size());
          units_.push_back(tile);
        }
      }
    }
  }
}

std::vector<UnitSet> unit_sets(const ParallelOptions& parallel) {
  if (!parallel.shards_experts_apart()) return {{.of = UnitsOf::kAll, .options = parallel.sharding}};
  ShardingOptions experts = parallel.sharding;
  experts.shard = parallel.expert_replicas();
  if (experts.shard == 1) experts.persistence_threshold = INT64_MAX;  // no other rank has them: never sharded
  return {{.of = UnitsOf::kDense, .options = parallel.sharding}, {.of = UnitsOf::kExperts, .options = experts}};
}

std::vector<StageUnits> stage_units(const std::vector<ModelChunk>& parts, const ParallelOptions& parallel) {
  std::vector<StageUnits> units;
  if (!parallel.sharding.parameters) return units;
  for (const UnitSet& set : unit_sets(parallel)) {
    units.push_back({.options = set.options, .units = ShardUnits(parts, set.options, set.of)});
  }
  return units;
}

std::vector<UnitUse> ShardUnits::uses(const std::vector<Slot>& slots) const {
  std::vector<UnitUse> uses;
  std::size_t most = 0;
  for (const Slot& slot : slots) most += unit_at_[static_cast<std::size_t>(slot.chunk)].size();
  uses.reserve(most);
  for (std::size_t number = 0; number < slots.size(); ++number) {
    const Slot& slot = slots[number];
    const std::vector<std::size_t>& unit_at = unit_at_[static_cast<std::size_t>(slot.chunk)];
    const std::size_t begin = uses.size();
    for (std::size_t point = 0; point < unit_at.size(); ++point) {
      const std::size_t unit = unit_at[point];
      if (uses.size() > begin && uses.back().unit == unit) continue;
      uses.push_back({.unit = unit, .slot = number, .pass = slot.pass, .point = point});
    }
    if (slot.pass != Pass::kForward) std::reverse(uses.begin() + static_cast<std::ptrdiff_t>(begin), uses.end());
  }
  return uses;
}

std::int64_t ShardUnits::owned(int shard) const {
  std::int64_t total = 0;
  for (const ShardUnit& unit : units_) total += unit.padded_gradients / shard;
  return total;
}

std::int64_t ShardUnits::elements() const {
  std::int64_t total = 0;
  for (const ShardUnit& unit : units_) total += unit.elements;
  return total;
}

std::int64_t ShardUnits::gradients() const {
  std::int64_t total = 0;
  for (const ShardUnit& unit : units_) total += unit.gradients;
  return total;
}

std::int64_t ShardUnits::kept(int shard) const {
  std::int64_t total = persistent();
  for (const ShardUnit& unit : units_) total += unit.padded / shard;
  return total;
}

std::int64_t ShardUnits::persistent() const {
  std::int64_t total = 0;
  for (const ShardUnit& unit : units_) total += unit.elements - unit.sharded;
  return total;
}

}  // namespace ringwright::workload
