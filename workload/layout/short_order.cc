#include "workload/layout/short_order.h"

#include <algorithm>

#include "workload/builtin.h"
#include "workload/layout/pipeline_order.h"

namespace ringwright::workload {
namespace {

using Steady = ShortOrder::Steady;

bool is_later(const Slot& later, const Slot& slot, int microbatches) {
  Slot moved = slot;
  moved.microbatch += microbatches;
  return later == moved;
}

// The longest run of slots around the middle in which a cycle of so many slots repeats the one of so many microbatches
// before.
std::optional<Steady> find_steady(const std::vector<Slot>& slots, std::size_t cycle, int microbatches) {
  if (cycle == 0 || slots.size() < 2 * cycle) return std::nullopt;
  const auto repeats = [&](std::size_t i) { return is_later(slots[i + cycle], slots[i], microbatches); };
  std::size_t first = (slots.size() - cycle) / 2;
  if (!repeats(first)) return std::nullopt;
  std::size_t last = first;
  while (first > 0 && repeats(first - 1)) --first;
  while (last + 1 + cycle < slots.size() && repeats(last + 1)) ++last;
  return Steady{.first = first, .cycle = cycle, .end = last + 1 + cycle};
}

// How a schedule is cut: microbatches per cycle, and number of cycles.
struct Cut {
  int microbatches = 1;
  std::uint32_t cycles = 0;
  [[nodiscard]] int in_all() const { return microbatches * static_cast<int>(cycles); }
};

// Where the short order repeats in cycles, if the whole order is the same with more of them.
std::optional<Steady> find_cycle(const std::vector<Slot>& whole, const std::vector<Slot>& few, const Cut& cut) {
  if (whole.size() <= few.size() || (whole.size() - few.size()) % cut.cycles != 0) return std::nullopt;
  const std::size_t left_out = whole.size() - few.size();
  const auto steady = find_steady(few, left_out / cut.cycles, cut.microbatches);
  if (!steady) return std::nullopt;
  for (std::size_t i = 0; i < steady->end; ++i) {
    if (whole[i] != few[i]) return std::nullopt;
  }
  for (std::size_t i = steady->end; i < steady->end + left_out; ++i) {
    if (!is_later(whole[i], whole[i - steady->cycle], cut.microbatches)) return std::nullopt;
  }
  for (std::size_t i = steady->end; i < few.size(); ++i) {
    if (!is_later(whole[i + left_out], few[i], cut.in_all())) return std::nullopt;
  }
  return steady;
}

std::optional<ShortOrder> cut_order(const PipelineOrder& whole, const ParallelOptions& parallel,
                                    const TrainingOptions& training, const Cut& cut) {
  TrainingOptions fewer = training;
  fewer.global_batch -= training.micro_batch * parallel.dp * cut.in_all();
  ShortOrder result{.order = pipeline_order(parallel, fewer), .cycles_left_out = cut.cycles};
  for (std::size_t stage = 0; stage < whole.size(); ++stage) {
    const auto steady = find_cycle(whole[stage], result.order[stage], cut);
    if (!steady) return std::nullopt;
    result.steady.push_back(*steady);
  }
  return result;
}

// The possible numbers of microbatches in a cycle.
int cycle_of(const ParallelOptions& parallel) {
  if (parallel.placement == Placement::kBidirectional) return 2;
  if (parallel.placement == Placement::kVee || parallel.virtual_stages == 1) return 1;
  return parallel.microbatch_group > 0 ? parallel.microbatch_group : parallel.pp;
}

}  // namespace

std::optional<ShortOrder> shorten(const PipelineOrder& whole, const ParallelOptions& parallel,
                                  const TrainingOptions& training, CyclesKept cycles) {
  if (parallel.listed || !parallel.flushes()) return std::nullopt;
  const auto microbatches = static_cast<int>(parallel.microbatches(training));
  const int cycle = cycle_of(parallel);
  // Eight cycles after the pipeline is full, where a cycle has one microbatch from each end at which they enter.
  const int ends = parallel.placement == Placement::kBidirectional ? 2 : 1;
  const int filling = std::max(1, find_schedule(parallel.schedule).microbatches_per_stage) * parallel.pp;
  const int few = std::max(filling + 8 * ends, 7 * cycle);
  // Some schedules need more microbatches to reach their steady state.
  for (const int kept : {few, 4 * few}) {
    if (kept == few && cycles == CyclesKept::kMany) continue;
    if (microbatches < kept + cycle) return std::nullopt;
    const Cut cut{.microbatches = cycle, .cycles = static_cast<std::uint32_t>((microbatches - kept) / cycle)};
    if (auto result = cut_order(whole, parallel, training, cut)) return result;
  }
  return std::nullopt;
}

}  // namespace ringwright::workload
