#include "workload/memory/memory_walk.h"

#include <algorithm>
#include <utility>

#include "workload/layout/gradient_turns.h"
#include "workload/pipeline/steady_passes.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

// When the whole gradients of a chunk exist under ZeRO stage 2: while consecutive microbatches are accumulated. If
// every microbatch is reduced separately, only a bucket of them exists (reduction buffer).
class Accumulators {
 public:
  Accumulators(const std::vector<ModelChunk>& parts, const StepInputs& inputs, const std::vector<Slot>& slots)
      : whole_(inputs.parallel.gradient_reduction == GradientReduction::kMicrobatchGroup) {
    if (!whole_) return;
    reduces_ = reducing_slots(slots, inputs.parallel.gradient_reduction);
    held_.resize(parts.size());
    for (const ModelChunk& part : parts) {
      bytes_.push_back(scale(Bytes(1), static_cast<double>(count_trainable(std::vector<ModelChunk>{part})) *
                                    bytes_per_element(inputs.training.grad_reduce)));
    }
  }

  // Memory that a backward pass adds at its start, and releases at its end.
  [[nodiscard]] Bytes begin_backward(int chunk) {
    if (!whole_) return 0_B;
    const auto index = static_cast<std::size_t>(chunk);
    return std::exchange(held_[index], char{1}) != 0 ? 0_B : bytes_[index];
  }
  [[nodiscard]] Bytes end_backward(int chunk, std::size_t slot) {
    if (!whole_ || !reduces_[slot]) return 0_B;
    const auto index = static_cast<std::size_t>(chunk);
    held_[index] = 0;
    return bytes_[index];
  }

 private:
  bool whole_;                 // false: nothing is added or released
  std::vector<bool> reduces_;  // by slot
  std::vector<char> held_;     // by chunk
  std::vector<Bytes> bytes_;   // by chunk
};

// Of a stage whose passes depend on those before.
class StageWalk {
 public:
  StageWalk(Accumulators accumulators, PassWalker& passes) : accumulators_(std::move(accumulators)), passes_(passes) {}

  MemoryWalk of(const std::vector<Slot>& slots) {
    for (std::size_t number = 0; number < slots.size(); ++number) {
      const Slot& slot = slots[number];
      const bool ends = slot.pass != Pass::kForward && ends_microbatch(slot.pass);
      if (ends) add_accumulators(accumulators_.begin_backward(slot.chunk));
      add(passes_.next(slot));
      if (ends) add_accumulators(0_B - accumulators_.end_backward(slot.chunk, number));
    }
    walk_.on_host = passes_.most_on_host();
    walk_.reserved = std::max(walk_.reserved, walk_.peak.total()) - walk_.peak.total();
    return walk_;
  }

 private:
  void add_accumulators(Bytes bytes) {
    held_[Held::kAccumulators] += bytes;
    total_ += bytes;
  }

  void add(const PassMemory& pass) {
    const Bytes before = total_;
    const Bytes total = pass.total ? before + *pass.total : 0_B;
    if (pass.total) walk_.reserved = std::max(walk_.reserved, before + pass.reserved);
    if (total > peak_total_) {
      peak_total_ = total;
      walk_.peak = held_;
      walk_.peak.add(pass.peak);
    }
    held_.add(pass.after);
    total_ += pass.added;
  }

  Accumulators accumulators_;
  PassWalker& passes_;
  HeldBytes held_;  // before the next pass
  Bytes total_;     // of it
  Bytes peak_total_;
  MemoryWalk walk_;
};

// Whether a pass holds the same in all microbatches, but for what is gathered.
bool repeats_but_for_gathers(const ParallelOptions& parallel) {
  return parallel.offload.activation_layers == 0 &&
         parallel.gradient_reduction != GradientReduction::kMicrobatchGroup;
}

}  // namespace

bool passes_repeat(const StepInputs& inputs) {
  return !inputs.parallel.sharding.parameters && repeats_but_for_gathers(inputs.parallel);
}

MemoryWalk MemoryWalker::walk(const std::vector<Slot>& slots) {
  if (!passes_) passes_.emplace(inputs_, parts_, units_);
  if (passes_repeat(inputs_)) return walk_repeated(slots);
  if (repeats_but_for_gathers(inputs_.parallel)) {
    const FewCycles few = with_few_cycles(slots);
    if (few.slots.size() < slots.size()) {
      passes_->begin(gathers_, few.slots, few.cycles);
      if (passes_->gathers_repeat()) return walk_all(few.slots);
    }
  }
  passes_->begin(gathers_, slots);
  return walk_all(slots);
}

MemoryWalk MemoryWalker::walk_all(const std::vector<Slot>& slots) {
  return StageWalk({parts_, inputs_, slots}, *passes_).of(slots);
}

// Sums find the peak; what is held at it is added up afterwards.
MemoryWalk MemoryWalker::walk_repeated(const std::vector<Slot>& slots) {
  struct Sums {
    const PassMemory* pass = nullptr;  // null: not yet walked
    Bytes added, total, reserved;
  };
  std::vector<Sums> of_kind(passes_->kinds());
  MemoryWalk walk;
  Bytes before, peak;
  std::size_t at = slots.size();
  for (std::size_t number = 0; number < slots.size(); ++number) {
    Sums& sums = of_kind[PassWalker::kind_of(slots[number])];
    if (sums.pass == nullptr) {
      const PassMemory& pass = passes_->next(slots[number]);
      // Of a chunk without points nothing counts.
      sums = {.pass = &pass,
              .added = pass.added,
              .total = pass.total.value_or(Bytes(INT64_MIN / 2)),
              .reserved = pass.total ? pass.reserved : Bytes(INT64_MIN / 2)};
    }
    walk.reserved = std::max(walk.reserved, before + sums.reserved);
    if (before + sums.total > peak) {
      peak = before + sums.total;
      at = number;
    }
    before += sums.added;
  }
  if (at < slots.size()) {
    std::vector<std::int64_t> passes_before(of_kind.size());
    for (std::size_t number = 0; number < at; ++number) ++passes_before[PassWalker::kind_of(slots[number])];
    for (std::size_t kind = 0; kind < of_kind.size(); ++kind) {
      if (passes_before[kind] > 0) walk.peak.add(of_kind[kind].pass->after, passes_before[kind]);
    }
    walk.peak.add(of_kind[PassWalker::kind_of(slots[at])].pass->peak);
  }
  walk.on_host = passes_->most_on_host();
  walk.reserved = std::max(walk.reserved, walk.peak.total()) - walk.peak.total();
  return walk;
}

}  // namespace ringwright::workload
