#include "workload/memory/sharded_memory.h"

#include <algorithm>

#include "workload/parallel/tiled_uses.h"

namespace ringwright::workload {
namespace {

Bytes of_elements(std::int64_t elements, DataType type) {
  return scale(Bytes(1), static_cast<double>(elements) * bytes_per_element(type));
}

}  // namespace

ShardedMemory::ShardedMemory(const StepInputs& inputs, const UnitSet& set, const std::vector<ModelChunk>& parts,
                             const std::vector<Slot>& slots, const std::vector<std::size_t>& cycles)
    : inputs_(inputs),
      units_(parts, set.options, set.of),
      schedule_(units_, set.options, uses_of(units_, parts, inputs.training, slots), cycles) {}

void ShardedMemory::enter(int chunk, std::size_t point, HeldBytes& held) {
  if (units_.has_tiles()) return enter_tiles(point, held);
  const std::size_t unit = units_.unit_at(chunk, point);
  if (!started_ || schedule_.uses()[use_].unit != unit || new_pass_) use_ = started_ ? use_ + 1 : 0;
  started_ = true;
  new_pass_ = false;
  const DataType type = inputs_.training.precision;
  held[Held::kGathered] += of_elements(schedule_.steps()[use_].live, type);
  if (schedule_.uses()[use_].pass == Pass::kForward) return;
  const std::int64_t elements = units_.units()[unit].padded_gradients;
  held[Held::kUnreduced] +=
      of_elements(elements, type) + of_elements(in_flight(elements), inputs_.training.grad_reduce);
}

// The most of the uses at a point.
void ShardedMemory::enter_tiles(std::size_t point, HeldBytes& held) {
  const DataType type = inputs_.training.precision;
  const std::size_t slot = schedule_.uses()[use_].slot;
  Bytes gathered, unreduced;
  for (; use_ < schedule_.uses().size(); ++use_) {
    const UnitUse& use = schedule_.uses()[use_];
    if (use.slot != slot || use.point != point) break;
    const Bytes live = of_elements(schedule_.steps()[use_].live, type);
    Bytes waiting;
    if (use.pass != Pass::kForward) {
      const std::int64_t elements = units_.units()[use.unit].padded_gradients;
      waiting = of_elements(in_flight(elements), inputs_.training.grad_reduce);
      if (schedule_.steps()[use_].completes_gradients) waiting += of_elements(elements, type);
    }
    if (live + waiting <= gathered + unreduced) continue;
    gathered = live;
    unreduced = waiting;
  }
  held[Held::kGathered] += gathered;
  held[Held::kUnreduced] += unreduced;
}

// The bucket being filled or reduced: at least the previous unit.
std::int64_t ShardedMemory::in_flight(std::int64_t unit) const {
  return std::max(unit, std::min(inputs_.parallel.sharding.reduce_bucket, count_));
}

}  // namespace ringwright::workload
