#include "workload/pipeline/timeline.h"

#include <algorithm>
#include <array>

namespace ringwright::workload {

std::int64_t PassTimes::of(Pass pass) const {
  switch (pass) {
    case Pass::kForward: return forward;
    case Pass::kBackward: return input + weight;
    case Pass::kInputGradient: return input;
    case Pass::kWeightGradient: return weight;
  }
  return 0;
}

std::int64_t Timeline::end() const {
  std::int64_t last = 0;
  for (const StageTimeline& stage : stages) last = std::max(last, stage.end);
  return last;
}

std::int64_t Timeline::bubble() const {
  std::int64_t busy = 0;
  for (const StageTimeline& stage : stages) busy = std::max(busy, stage.busy);
  return end() - busy;
}

std::int64_t Timeline::bubble_of_own() const {
  std::int64_t span = 0;
  std::int64_t busy = 0;
  for (const StageTimeline& stage : stages) {
    span = std::max(span, stage.span());
    busy = std::max(busy, stage.busy);
  }
  return span - busy;
}

Needs needs_of(const PipelineShape& shape, int stage, const Slot& slot) {
  const ChunkPosition here{.stage = stage, .chunk = slot.chunk};
  const auto from = [&](int step, Pass pass) -> std::optional<Need> {
    const auto place = neighbour(shape, here, step);
    return place ? std::optional<Need>({.place = *place, .pass = pass}) : std::nullopt;
  };
  if (slot.pass == Pass::kForward) return {.own = std::nullopt, .others = from(-1, Pass::kForward)};
  if (slot.pass == Pass::kWeightGradient) return {.own = Need{here, Pass::kInputGradient}, .others = std::nullopt};
  return {.own = Need{here, Pass::kForward}, .others = from(1, Pass::kInputGradient)};
}

namespace {

class Player {
 public:
  Player(const PipelineOrder& order, const PipelineShape& shape, int microbatches,
         std::span<const PassTimes> times_of_part)
      : order_(order),
        shape_(shape),
        microbatches_(microbatches),
        times_of_part_(times_of_part),
        ends_(static_cast<std::size_t>(2 * shape.stages * shape.chunks) * static_cast<std::size_t>(microbatches),
              kNever),
        held_(order.size(), 0) {
    result_.stages.resize(order.size());
    find_needs();
  }

  Timeline play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < order_.size(); ++stage) {
        while (advance(stage)) moved = true;
      }
    }
    result_.finished = true;
    for (std::size_t stage = 0; stage < order_.size(); ++stage) {
      result_.finished = result_.finished && result_.stages[stage].played == order_[stage].size();
    }
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t kNever = -1;
  static constexpr std::int32_t kNoRow = -1;
  static constexpr std::size_t kPasses = 4;

  [[nodiscard]] const PassTimes& times_of(int stage, int chunk) const {
    if (times_of_part_.size() == 1) return times_of_part_.front();
    return times_of_part_[static_cast<std::size_t>(part_at(shape_, {.stage = stage, .chunk = chunk}))];
  }
  [[nodiscard]] std::int32_t row_of(const Need& need) const {
    const int chunk = need.place.stage * shape_.chunks + need.place.chunk;
    return 2 * chunk + (need.pass == Pass::kForward ? 0 : 1);
  }
  [[nodiscard]] std::size_t needs_index(int stage, const Slot& slot) const {
    return static_cast<std::size_t>(stage * shape_.chunks + slot.chunk) * kPasses + static_cast<std::size_t>(slot.pass);
  }
  // The same for all microbatches.
  void find_needs() {
    needed_.reserve(static_cast<std::size_t>(shape_.stages * shape_.chunks) * kPasses);
    for (int stage = 0; stage < shape_.stages; ++stage) {
      for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
        for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kInputGradient, Pass::kWeightGradient}) {
          const Needs needs = needs_of(shape_, stage, {.pass = pass, .microbatch = 0, .chunk = chunk});
          needed_.push_back({needs.own ? row_of(*needs.own) : kNoRow, needs.others ? row_of(*needs.others) : kNoRow});
        }
      }
    }
  }
  [[nodiscard]] std::int64_t& end_of(const Need& need, int microbatch) {
    return ends_[static_cast<std::size_t>(row_of(need)) * static_cast<std::size_t>(microbatches_) +
                 static_cast<std::size_t>(microbatch)];
  }
  // When the slot's inputs are available.
  [[nodiscard]] std::optional<std::int64_t> ready_at(int stage, const Slot& slot) const {
    std::int64_t ready = 0;
    for (const std::int32_t row : needed_[needs_index(stage, slot)]) {
      if (row == kNoRow) continue;
      const std::int64_t end = ends_[static_cast<std::size_t>(row) * static_cast<std::size_t>(microbatches_) +
                                     static_cast<std::size_t>(slot.microbatch)];
      if (end == kNever) return std::nullopt;
      ready = std::max(ready, end);
    }
    return ready;
  }
  // Runs the next block of joined slots, if their inputs are available.
  bool advance(std::size_t stage) {
    StageTimeline& mine = result_.stages[stage];
    const std::vector<Slot>& slots = order_[stage];
    const int number = static_cast<int>(stage);
    if (mine.played == slots.size()) return false;
    std::size_t last = mine.played;
    while (slots[last].joined && last + 1 < slots.size()) ++last;
    std::int64_t begin = mine.end;
    std::int64_t length = 0;
    for (std::size_t i = mine.played; i <= last; ++i) {
      const auto ready = ready_at(number, slots[i]);
      if (!ready) return false;
      begin = std::max(begin, *ready);
      length += times_of(number, slots[i].chunk).of(slots[i].pass);
    }
    if (mine.played == 0) mine.start = begin;
    mine.end = begin + length;
    mine.busy += length;
    for (; mine.played <= last; ++mine.played) finish(number, slots[mine.played], mine);
    return true;
  }
  void finish(int stage, const Slot& slot, StageTimeline& mine) {
    int& held = held_[static_cast<std::size_t>(stage)];
    if (slot.pass == Pass::kForward) ++held;
    if (slot.pass == Pass::kForward || passes_gradient_on(slot.pass)) {
      const Pass pass = slot.pass == Pass::kForward ? Pass::kForward : Pass::kInputGradient;
      end_of({.place = {.stage = stage, .chunk = slot.chunk}, .pass = pass}, slot.microbatch) = mine.end;
    }
    mine.held_at_peak = std::max(mine.held_at_peak, held);
    if (ends_microbatch(slot.pass)) --held;
  }

  const PipelineOrder& order_;
  const PipelineShape& shape_;
  int microbatches_;
  std::span<const PassTimes> times_of_part_;
  std::vector<std::int64_t> ends_;                   // by stage, chunk, forward or gradient, microbatch
  std::vector<std::array<std::int32_t, 2>> needed_;  // by stage, chunk, pass: rows of `ends_` that it waits for
  std::vector<int> held_;                            // by stage
  Timeline result_;
};

}  // namespace

Timeline play_parts(const PipelineOrder& order, const PipelineShape& shape, int microbatches,
                    std::span<const PassTimes> times_of_part) {
  return Player(order, shape, microbatches, times_of_part).play();
}

Timeline play_order(const PipelineOrder& order, const PipelineShape& shape, int microbatches, const PassTimes& times) {
  return play_parts(order, shape, microbatches, std::span(&times, 1));
}

}  // namespace ringwright::workload
