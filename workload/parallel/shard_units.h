// Units of sharded parameters: tensors that are gathered together before use, and whose gradients are scattered
// together.
//
// A transformer layer is a unit, as in FSDP's wrapping policies. ZeRO-3 gathers module by module and looks ahead by
// elements; here a layer's weights are gathered one after another before it (gather_calls), or all with one call. With
// memory-centric tiling (options/linear_tiling.h) each tile of a linear operator is a unit.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/layout/stage_chunks.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Of which parameters.
enum class UnitsOf { kAll, kDense, kExperts };

struct ShardUnit {
  std::int64_t elements = 0;
  std::int64_t gradients = 0;   // frozen tensors have none
  std::int64_t sharded = 0;     // without tensors that are never sharded
  std::int64_t padded = 0;      // sharded elements, a multiple of the shard group
  std::int64_t regathered = 0;  // of these, between recomputation and backward pass; padded
  std::int64_t padded_gradients = 0;
  std::int64_t matrices = 0;     // elements of weights of the layers' GEMMs
  std::int64_t matrix_count = 0;
  std::size_t tensors = 0;                // that are gathered
  std::vector<std::int64_t> calls;        // the padded elements by call that gathers some of them
  std::vector<std::int64_t> calls_again;  // the regathered ones
  bool kept = false;  // gathered from a forward pass to the next backward pass
  bool tile = false;  // of a linear operator
};

// One use of a unit: neighbouring points of a pass.
struct UnitUse {
  std::size_t unit = 0;
  std::size_t slot = 0;  // pass of the stage, in its order
  Pass pass = Pass::kForward;
  std::size_t point = 0;  // the first of these points
};

class ShardUnits {
 public:
  ShardUnits(const std::vector<ModelChunk>& parts, const ShardingOptions& options, UnitsOf of = UnitsOf::kAll);

  [[nodiscard]] const std::vector<ShardUnit>& units() const { return units_; }
  [[nodiscard]] std::size_t unit_at(int chunk, std::size_t point) const {
    return unit_at_[static_cast<std::size_t>(chunk)][point];
  }
  [[nodiscard]] std::size_t points(int chunk) const { return unit_at_[static_cast<std::size_t>(chunk)].size(); }
  // The units of the point's tiles, in the order of a forward pass; empty: no operator is cut.
  [[nodiscard]] const std::vector<std::size_t>& tiles_at(int chunk, std::size_t point) const {
    return tiles_at_[static_cast<std::size_t>(chunk)][point];
  }
  [[nodiscard]] bool has_tiles() const { return has_tiles_; }
  // Of the point's tensors.
  [[nodiscard]] std::int64_t gradients_at(int chunk, std::size_t point) const {
    return gradients_at_[static_cast<std::size_t>(chunk)][point];
  }
  // In the order of a stage's passes, without tiles.
  [[nodiscard]] std::vector<UnitUse> uses(const std::vector<Slot>& slots) const;
  // The elements that a rank updates: its share of all gradients.
  [[nodiscard]] std::int64_t owned(int shard) const;
  [[nodiscard]] std::int64_t persistent() const;
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t gradients() const;
  // The elements that a rank stores permanently: its shard, and tensors that are never sharded.
  [[nodiscard]] std::int64_t kept(int shard) const;

 private:
  void add_tiles(const std::vector<ModelChunk>& parts, const ShardingOptions& options, UnitsOf of);

  std::vector<ShardUnit> units_;
  std::vector<std::vector<std::size_t>> unit_at_;  // by chunk, by point
  std::vector<std::vector<std::int64_t>> gradients_at_;
  std::vector<std::vector<std::vector<std::size_t>>> tiles_at_;  // likewise
  bool has_tiles_ = false;
};

// A rank's share of its chunks' parameters: one set of units, or two if experts have separate copies.
struct UnitSet {
  UnitsOf of = UnitsOf::kAll;
  ShardingOptions options;
};
[[nodiscard]] std::vector<UnitSet> unit_sets(const ParallelOptions& parallel);

// The units of these chunks: of each set. Empty where parameters are not sharded.
struct StageUnits {
  ShardingOptions options;
  ShardUnits units;
};
[[nodiscard]] std::vector<StageUnits> stage_units(const std::vector<ModelChunk>& parts,
                                                  const ParallelOptions& parallel);

}  // namespace ringwright::workload
