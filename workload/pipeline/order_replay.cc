#include "workload/pipeline/order_replay.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

constexpr std::size_t kPassKinds = 4;
constexpr std::int64_t kNotYet = -1;

}  // namespace

// `ends_` begins with a row that is always there, and one that nobody waits for.
OrderReplay::OrderReplay(const PipelineShape& shape, int microbatches)
    : shape_(shape), microbatches_(static_cast<std::size_t>(microbatches)) {
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
      for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kInputGradient, Pass::kWeightGradient}) {
        rows_.push_back(row_of(stage, {.pass = pass, .microbatch = 0, .chunk = chunk}));
      }
    }
  }
}

std::size_t OrderReplay::first_end(const std::optional<Need>& need) const {
  if (!need) return 0;
  const auto chunk = static_cast<std::size_t>(need->place.stage * shape_.chunks + need->place.chunk);
  return (2 + 2 * chunk + (need->pass == Pass::kForward ? 0 : 1)) * microbatches_;
}

OrderReplay::Row OrderReplay::row_of(int stage, const Slot& slot) const {
  const Needs needs = needs_of(shape_, stage, slot);
  const int part = part_at(shape_, {.stage = stage, .chunk = slot.chunk});
  Row row{.needs = {first_end(needs.own), first_end(needs.others)},
          .end = microbatches_,
          .part = static_cast<std::size_t>(part),
          .pass = slot.pass};
  if (slot.pass == Pass::kForward || passes_gradient_on(slot.pass)) {
    const Pass pass = slot.pass == Pass::kForward ? Pass::kForward : Pass::kInputGradient;
    row.end = first_end(Need{.place = {.stage = stage, .chunk = slot.chunk}, .pass = pass});
  }
  return row;
}

// Forward passes wait for earlier stages, backward passes for later ones.
std::optional<OrderReplay::Ends> OrderReplay::play(const PipelineOrder& order,
                                                   std::span<const PassTimes> times_of_part) {
  for (Row& row : rows_) row.time = times_of_part[row.part].of(row.pass);
  ends_.assign((2 + 2 * rows_.size() / kPassKinds) * microbatches_, kNotYet);
  std::fill_n(ends_.begin(), microbatches_, 0);
  stages_.assign(order.size(), {});
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < order.size(); ++stage) moved = advance(order[stage], stage) || moved;
    for (std::size_t stage = order.size(); stage-- > 0;) moved = advance(order[stage], stage) || moved;
  }
  Ends ends{.last = 0, .first_stage = stages_.front().end};
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    if (stages_[stage].next < order[stage].size()) return std::nullopt;
    ends.last = std::max(ends.last, stages_[stage].end);
  }
  return ends;
}

// All passes whose needs are there, up to the first one that waits; whether there were any.
bool OrderReplay::advance(const std::vector<Slot>& slots, std::size_t stage) {
  const Row* const rows = rows_.data() + stage * static_cast<std::size_t>(shape_.chunks) * kPassKinds;
  std::int64_t* const ends = ends_.data();
  Stage now = stages_[stage];
  while (now.next < slots.size()) {
    const Slot& slot = slots[now.next];
    if (slot.joined) {  // few
      if (!take_block(slots, rows, now)) break;
      continue;
    }
    const Row& row = rows[kPassKinds * static_cast<std::size_t>(slot.chunk) + static_cast<std::size_t>(slot.pass)];
    const auto microbatch = static_cast<std::size_t>(slot.microbatch);
    const std::int64_t own = ends[row.needs[0] + microbatch];
    const std::int64_t others = ends[row.needs[1] + microbatch];
    if (own < 0 || others < 0) break;
    now.end = std::max({now.end, own, others}) + row.time;
    ends[row.end + microbatch] = now.end;
    ++now.next;
  }
  const bool moved = now.next > stages_[stage].next;
  stages_[stage] = now;
  return moved;
}

// Joined passes begin when the needs of all are there, and end together.
bool OrderReplay::take_block(const std::vector<Slot>& slots, const Row* rows, Stage& stage) {
  const auto row_at = [&](std::size_t i) -> const Row& {
    return rows[kPassKinds * static_cast<std::size_t>(slots[i].chunk) + static_cast<std::size_t>(slots[i].pass)];
  };
  std::size_t last = stage.next;
  while (slots[last].joined && last + 1 < slots.size()) ++last;
  std::int64_t end = stage.end;
  std::int64_t length = 0;
  for (std::size_t i = stage.next; i <= last; ++i) {
    for (const std::size_t need : row_at(i).needs) {
      const std::int64_t there = ends_[need + static_cast<std::size_t>(slots[i].microbatch)];
      if (there < 0) return false;
      end = std::max(end, there);
    }
    length += row_at(i).time;
  }
  stage.end = end + length;
  for (; stage.next <= last; ++stage.next) {
    ends_[row_at(stage.next).end + static_cast<std::size_t>(slots[stage.next].microbatch)] = stage.end;
  }
  return true;
}

}  // namespace ringwright::workload
