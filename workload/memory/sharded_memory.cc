#include "workload/memory/sharded_memory.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

Bytes bytes_of(std::int64_t elements, double each) { return scale(Bytes(1), static_cast<double>(elements) * each); }

}  // namespace

ShardedMemory::ShardedMemory(const StepInputs& inputs, const ShardUnits& units, const GatherSchedule& schedule)
    : units_(units),
      schedule_(schedule),
      element_({.bytes = bytes_per_element(inputs.training.precision)}) {
  if (inputs.parallel.sharding.fsdp2() && inputs.training.gathers_narrow()) {
    element_.saved = element_.bytes - bytes_per_element(inputs.training.gemm_type());
  }
  // The bucket being filled or reduced holds at least the previous unit.
  const std::int64_t bucket = std::min(inputs.parallel.sharding.reduce_bucket, units_.elements());
  bucket_ = bytes_of(bucket, bytes_per_element(inputs.training.grad_reduce));
  for (const ShardUnit& unit : units_.units()) {
    const std::int64_t elements = unit.padded_gradients;
    gradients_.push_back(
        {.reduced = bytes_of(std::max(elements, bucket), bytes_per_element(inputs.training.grad_reduce)),
         .computed = bytes_of(elements, element_.bytes)});
  }
}

Bytes ShardedMemory::gathered_at(std::size_t use) const {
  const GatherSchedule::Step& step = schedule_.steps()[use];
  return bytes_of(step.live, element_.bytes) - bytes_of(step.matrices, element_.saved);
}

void ShardedMemory::enter(int chunk, std::size_t point, GatheredBytes& held) {
  if (units_.has_tiles()) return enter_tiles(point, held);
  const std::size_t unit = units_.unit_at(chunk, point);
  if (!started_ || schedule_.uses()[use_].unit != unit || new_pass_) {
    use_ = next_use();
    live_ = gathered_at(use_);
  }
  started_ = true;
  new_pass_ = false;
  held.gathered += live_;
  if (schedule_.uses()[use_].pass == Pass::kForward) return;
  if (!schedule_.steps()[use_].completes_gradients) {
    waiting_.unit = unit;
    waiting_.bytes += bytes_of(units_.gradients_at(chunk, point), element_.bytes);
    held.unreduced += waiting_.bytes + bucket_;
    return;
  }
  held.unreduced += gradients_[unit].computed + gradients_[unit].reduced;
  if (unit != waiting_.unit) held.unreduced += waiting_.bytes;  // else they are among the computed ones
}

void ShardedMemory::end_pass(std::size_t kind) {
  new_pass_ = true;
  waiting_ = {};
  if (units_.has_tiles()) return;
  if (entered_.size() <= kind) entered_.resize(kind + 1);
  entered_[kind] = Entered{.first = before_pass_, .count = next_use() - before_pass_};
  before_pass_ = next_use();
}

bool ShardedMemory::next_repeats(std::size_t kind) const {
  if (entered_.size() <= kind || !entered_[kind]) return false;
  const Entered& last = *entered_[kind];
  const GatherSchedule::Step* const steps = schedule_.steps().data();
  return std::equal(steps + last.first, steps + last.first + last.count, steps + next_use(),
                    [](const auto& a, const auto& b) { return a.live == b.live && a.matrices == b.matrices; });
}

void ShardedMemory::skip_pass(std::size_t kind) {
  const std::size_t count = entered_[kind]->count;
  if (count > 0) {
    use_ = next_use() + count - 1;
    started_ = true;
  }
  end_pass(kind);
}

// The most of the uses at a point.
void ShardedMemory::enter_tiles(std::size_t point, GatheredBytes& held) {
  const std::size_t slot = schedule_.uses()[use_].slot;
  Bytes gathered, unreduced;
  for (; use_ < schedule_.uses().size(); ++use_) {
    const UnitUse& use = schedule_.uses()[use_];
    if (use.slot != slot || use.point != point) break;
    const Bytes live = gathered_at(use_);
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
