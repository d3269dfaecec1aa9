#include "workload/parallel/shard_units.h"

#include <algorithm>

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

void add_tensors(const std::vector<ParameterTensor>& tensors, UnitsOf of, std::int64_t threshold, ShardUnit& unit) {
  for (const ParameterTensor& tensor : tensors) {
    if (of != UnitsOf::kAll && tensor.expert != (of == UnitsOf::kExperts)) continue;
    unit.elements += tensor.elements;
    if (!tensor.frozen) unit.gradients += tensor.elements;
    if (tensor.elements >= threshold) unit.sharded += tensor.elements;
  }
}

}  // namespace

ShardUnits::ShardUnits(const std::vector<ModelChunk>& parts, const ShardingOptions& options, UnitsOf of) {
  for (const ModelChunk& part : parts) {
    std::vector<std::size_t>& unit_at = unit_at_.emplace_back();
    std::size_t root = units_.size();
    const bool has_root = options.root_unit && (part.embedding || part.head);
    if (has_root) units_.push_back({.kept = true});
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
      add_tensors(part.tensors[point], of, options.persistence_threshold, units_[unit_at.back()]);
    }
  }
  const auto padded = [&options](std::int64_t elements) {
    return (elements + options.shard - 1) / options.shard * options.shard;
  };
  for (ShardUnit& unit : units_) {
    unit.padded = padded(unit.sharded);
    unit.padded_gradients = padded(unit.gradients);
  }
}

std::vector<UnitSet> unit_sets(const ParallelOptions& parallel) {
  if (!parallel.shards_experts_apart()) return {{.of = UnitsOf::kAll, .options = parallel.sharding}};
  ShardingOptions experts = parallel.sharding;
  experts.shard = parallel.expert_replicas();
  if (experts.shard == 1) experts.persistence_threshold = INT64_MAX;  // no other rank has them: never sharded
  return {{.of = UnitsOf::kDense, .options = parallel.sharding}, {.of = UnitsOf::kExperts, .options = experts}};
}

std::vector<UnitUse> ShardUnits::uses(const std::vector<Slot>& slots) const {
  std::vector<UnitUse> uses;
  for (std::size_t number = 0; number < slots.size(); ++number) {
    const Slot& slot = slots[number];
    const std::vector<std::size_t>& unit_at = unit_at_[static_cast<std::size_t>(slot.chunk)];
    const std::size_t begin = uses.size();
    for (const std::size_t unit : unit_at) {
      if (uses.size() > begin && uses.back().unit == unit) continue;
      uses.push_back({.unit = unit, .slot = number, .pass = slot.pass});
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
