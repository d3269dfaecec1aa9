#include "workload/pipeline/schedule_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

// What has been done so far, by part of the model and microbatch.
class Progress {
 public:
  explicit Progress(const ScheduleSize& size)
      : size_(size), done_(static_cast<std::size_t>(2 * size.stages * size.chunks * size.microbatches), 0) {}

  void mark(int stage, const Slot& slot) { ++at(slot.pass, part_of(stage, slot), slot.microbatch); }
  [[nodiscard]] bool has(int stage, const Slot& slot) {
    return at(slot.pass, part_of(stage, slot), slot.microbatch) > 0;
  }

  // A forward pass needs the part before; a backward pass its own forward pass and the backward pass of the part after.
  [[nodiscard]] bool may_run(int stage, const Slot& slot) {
    const int part = part_of(stage, slot);
    const int parts = size_.stages * size_.chunks;
    if (slot.pass == Pass::kForward) return part == 0 || at(Pass::kForward, part - 1, slot.microbatch) > 0;
    if (at(Pass::kForward, part, slot.microbatch) == 0) return false;
    return part == parts - 1 || at(Pass::kBackward, part + 1, slot.microbatch) > 0;
  }

 private:
  [[nodiscard]] int part_of(int stage, const Slot& slot) const { return slot.chunk * size_.stages + stage; }
  [[nodiscard]] char& at(Pass pass, int part, int microbatch) {
    const int row = (pass == Pass::kForward ? 0 : size_.stages * size_.chunks) + part;
    return done_[static_cast<std::size_t>(row * size_.microbatches + microbatch)];
  }

  ScheduleSize size_;
  std::vector<char> done_;
};

std::string describe(int stage, const Slot& slot) {
  return fmt::format("stage {}: {} of microbatch {}, chunk {}", stage,
                     slot.pass == Pass::kForward ? "forward" : "backward", slot.microbatch, slot.chunk);
}

bool in_range(const Slot& slot, const ScheduleSize& size) {
  return slot.microbatch >= 0 && slot.microbatch < size.microbatches && slot.chunk >= 0 && slot.chunk < size.chunks;
}

std::string check_completeness(int stage, const std::vector<Slot>& slots, const ScheduleSize& size) {
  const auto expected = static_cast<std::size_t>(2 * size.chunks * size.microbatches);
  Progress seen(size);
  for (const Slot& slot : slots) {
    if (!in_range(slot, size)) return describe(stage, slot) + " does not exist";
    if (seen.has(stage, slot)) return describe(stage, slot) + " comes twice";
    seen.mark(stage, slot);
  }
  if (slots.size() == expected) return {};
  return fmt::format("stage {}: {} passes instead of {}", stage, slots.size(), expected);
}

}  // namespace

ScheduleVerdict check_schedule(ScheduleRule rule, const ScheduleSize& size) {
  ScheduleVerdict verdict;
  std::vector<std::vector<Slot>> slots;
  for (int stage = 0; stage < size.stages; ++stage) {
    slots.push_back(
        rule({.stage = stage, .stages = size.stages, .chunks = size.chunks, .microbatches = size.microbatches}));
    verdict.problem = check_completeness(stage, slots.back(), size);
    if (!verdict.problem.empty()) return verdict;
  }
  const auto stages = static_cast<std::size_t>(size.stages);
  verdict.held_at_peak.assign(stages, 0);
  std::vector<int> held(stages, 0);
  std::vector<std::size_t> next(stages, 0);
  Progress progress(size);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const int number = static_cast<int>(stage);
      while (next[stage] < slots[stage].size() && progress.may_run(number, slots[stage][next[stage]])) {
        const Slot& slot = slots[stage][next[stage]++];
        progress.mark(number, slot);
        held[stage] += slot.pass == Pass::kForward ? 1 : -1;
        verdict.held_at_peak[stage] = std::max(verdict.held_at_peak[stage], held[stage]);
        moved = true;
      }
    }
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (next[stage] == slots[stage].size()) continue;
    verdict.problem = describe(static_cast<int>(stage), slots[stage][next[stage]]) + " waits for ever";
    return verdict;
  }
  return verdict;
}

}  // namespace ringwright::workload
