#include "workload/memory/sharded_memory.h"

#include <algorithm>

#include "workload/parallel/tiled_uses.h"

namespace ringwright::workload {
namespace {

Bytes bytes_of(std::int64_t elements, double each) { return scale(Bytes(1), static_cast<double>(elements) * each); }

}  // namespace

ShardedMemory::ShardedMemory(const StepInputs& inputs, const ShardUnits& units, const ShardingOptions& options,
                             const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots,
                             const std::vector<std::size_t>& cycles)
    : units_(units),
      schedule_(units, options, uses_of(units, parts, inputs.training, slots), cycles),
      element_(bytes_per_element(inputs.training.precision)) {
  // The bucket being filled or reduced holds at least the previous unit.
  const std::int64_t bucket = std::min(inputs.parallel.sharding.reduce_bucket, units_.elements());
  for (const ShardUnit& unit : units_.units()) {
    const std::int64_t elements = unit.padded_gradients;
    gradients_.push_back(
        {.reduced = bytes_of(std::max(elements, bucket), bytes_per_element(inputs.training.grad_reduce)),
         .computed = bytes_of(elements, element_)});
  }
}

void ShardedMemory::enter(int chunk, std::size_t point, GatheredBytes& held) {
  if (units_.has_tiles()) return enter_tiles(point, held);
  const std::size_t unit = units_.unit_at(chunk, point);
  if (!started_ || schedule_.uses()[use_].unit != unit || new_pass_) use_ = started_ ? use_ + 1 : 0;
  started_ = true;
  new_pass_ = false;
  held.gathered += bytes_of(schedule_.steps()[use_].live, element_);
  if (schedule_.uses()[use_].pass == Pass::kForward) return;
  held.unreduced += gradients_[unit].computed + gradients_[unit].reduced;
}

// The most of the uses at a point.
void ShardedMemory::enter_tiles(std::size_t point, GatheredBytes& held) {
  const std::size_t slot = schedule_.uses()[use_].slot;
  Bytes gathered, unreduced;
  for (; use_ < schedule_.uses().size(); ++use_) {
    const UnitUse& use = schedule_.uses()[use_];
    if (use.slot != slot || use.point != point) break;
    const Bytes live = bytes_of(schedule_.steps()[use_].live, element_);
    Bytes waiting;
    if (use.pass != Pass::kForward) {
      waiting = gradients_[use.unit].reduced;
      if (schedule_.steps()[use_].completes_gradients) waiting += gradients_[use.unit].computed;
    }
    if (live + waiting <= gathered + unreduced) continue;
    gathered = live;
    unreduced = waiting;
  }
  held.gathered += gathered;
  held.unreduced += unreduced;
}

}  // namespace ringwright::workload
